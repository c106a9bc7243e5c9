import type { AttackClientConfig, AttackTarget, Attempt, ClientObservation } from '@rushhour/protocol';
import type { EngineContext, LoadChange, LoadChangeable, Pausable, PreparedEngine } from '../../engine.ts';
import { type LocalEndpoint, prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { type Chooser, chooserOf } from '../../net/load/rotation.ts';
import { clientTlsOptions } from '../../net/tls/tls-options.ts';
import { ConnectionPool } from './connection-pool.ts';
import { Contents, readAttempts } from './contents.ts';
import { Controls, type Origin } from './controls.ts';
import { CookieJar } from './cookie-jar.ts';
import { type AttackRoute, type ClientContext, type ClientOutcome, noOutcome, type ProtocolDriver } from './driver.ts';
import { clientVerdictOf, metersOf } from './meters.ts';
import { Pace } from './pace.ts';
import { driverFor } from './protocols/index.ts';
import { Sequence } from './sequence.ts';

type Context = EngineContext<AttackClientConfig>;
type Skipped = NonNullable<ClientObservation['skipped']>;

/** After this many failed proofs in a row a path is given up, so that a dead path does not take hours. */
const maxLostProofs = 3;

const originOf = ({ localAddress, via }: LocalEndpoint): Origin => ({
  ...(localAddress !== undefined && { localAddress }),
  ...(via && { via }),
});

const isSilence = ({ connect, end }: ClientOutcome) =>
  connect === 'timeout' || connect === 'refused' || connect === 'unreachable' || end === 'timeout';

/** State of the path to one target. */
interface TargetPath {
  readonly target: AttackTarget;
  readonly weight: number;
  readonly driver: ProtocolDriver;
  isProven: boolean;
  lostProofs: number;
  sinceControl: number;
}

/** Runs attempts in sequence, proves the path before, between and after them, and reports the outcomes. */
class AttackClient implements PreparedEngine, Pausable, LoadChangeable {
  readonly #context: Context;
  readonly #config: AttackClientConfig;
  readonly #clientContext: ClientContext;
  readonly #contents: Contents;
  readonly #sources: SourcePool;
  readonly #controls: Controls;
  readonly #paths: readonly TargetPath[];
  readonly #choosers = new Map<string, Chooser<TargetPath>>();
  readonly #sequence: Sequence;
  readonly #pace: Pace;
  readonly #countAttempt: ReturnType<typeof metersOf>;
  #origin: Origin = {};
  #startedAt = performance.now();

  constructor(engine: string, context: Context, sources: SourcePool) {
    const { config, signal, samples } = context;
    this.#context = context;
    this.#config = config;
    this.#sources = sources;
    this.#contents = new Contents(config.files);
    this.#countAttempt = metersOf(engine, samples);
    this.#pace = new Pace(config.ratePerSecond, signal);
    const { runToken, proofKey, marker, keepAlive, share } = config;
    this.#clientContext = {
      ...{ runToken, proofKey, marker, keepAlive, signal },
      pool: new ConnectionPool(),
      ...(config.followCookies && { cookies: new CookieJar() }),
      tls: clientTlsOptions(config.tls),
      elapsedMs: () => Math.max(0, performance.now() - this.#startedAt),
      bytesOf: (content) => this.#contents.bytesOf(content),
    };
    this.#paths = config.targets.map((target) => {
      const driver = driverFor(target.protocol);
      return { target, weight: target.weight, driver, isProven: false, lostProofs: 0, sinceControl: 0 };
    });
    const attempts = readAttempts(config.attempts).filter(
      ({ host }, index) => (host ?? index) % share.count === share.index,
    );
    this.#sequence = new Sequence(attempts);
    this.#controls = new Controls({
      context: this.#clientContext,
      ...config.control,
      driverOf: ({ protocol }) => driverFor(protocol),
      routeOf: (target, from, timeoutMs) => this.#routeOf(target, from, timeoutMs),
      record: (seen) => context.record(seen),
    });
  }

  async start(): Promise<void> {
    this.#startedAt = performance.now();
    this.#origin = this.#nextOrigin();
    await Promise.all(this.#paths.map((path) => this.#prove(path, 'path')));
    for (const { target, isProven } of this.#paths) {
      if (!isProven) this.#context.note(`${target.host}:${target.port} did not prove to be the server agent`);
    }
    this.#pace.begin();
    this.#noteSharedAddresses();
    const workers = Array.from({ length: this.#config.concurrency }, () => this.#work(undefined));
    await Promise.all([...workers, ...this.#sequence.hosts.map((host) => this.#work(host))]);
    for (const path of this.#paths) if (path.isProven && path.sinceControl > 0) await this.#prove(path, 'end');
  }

  pause(): void {
    this.#pace.pause();
  }

  resume(): void {
    this.#pace.resume();
  }

  changeLoad({ requestsPerSecond }: LoadChange): { readonly rejected?: string } {
    if (requestsPerSecond === undefined) return { rejected: 'only the request rate of attempts can be changed' };
    this.#pace.change(requestsPerSecond);
    return {};
  }

  async close(): Promise<void> {
    this.#clientContext.pool.close();
    this.#contents.wipe();
    await this.#sources.close();
  }

  async #work(host: number | undefined): Promise<void> {
    const { signal } = this.#context;
    for (;;) {
      const next = signal.aborted ? undefined : this.#sequence.next(host);
      if (next === undefined) return;
      const skipped = await this.#sequence.reasonToSkip(next);
      const path = this.#pathOf(next);
      if (skipped === undefined && (await this.#isOpen(path))) {
        await this.#pace.waitForNext(next.delayMs ?? 0);
        // Attempts that have not started at the end of the run are not reported.
        if (signal.aborted) return;
        await this.#try(next, path as TargetPath);
      } else this.#report(next, path, noOutcome, { skipped: skipped ?? 'path_not_proven' });
    }
  }

  async #try(attempt: Attempt, path: TargetPath): Promise<void> {
    const { timeoutMs, addressRotation, control } = this.#config;
    const isRotated = addressRotation === 'perAttempt';
    const from = this.#originOf(attempt.host) ?? (isRotated ? this.#nextOrigin() : this.#origin);
    const startedMs = this.#clientContext.elapsedMs();
    const seen = await path.driver
      .attempt(attempt, this.#routeOf(path.target, from, timeoutMs), this.#clientContext)
      .catch((error: Error): ClientOutcome => ({ ...noOutcome, error: error.message.slice(0, 500) }));
    const endedMs = this.#clientContext.elapsedMs();
    path.sinceControl += 1;
    const isShunned = isSilence(seen) && control.afterSilentDrop && (await this.#afterSilence(path, from));
    this.#report(attempt, path, seen, { startedMs, endedMs, isShunned });
    if (path.sinceControl >= control.everyAttempts) await this.#prove(path, 'periodic');
  }

  /** True when only this source address is blocked. */
  async #afterSilence(path: TargetPath, from: Origin): Promise<boolean> {
    if (await this.#prove(path, 'silent-drop', from)) return false;
    if (this.#sources.count < 2) return false;
    const other = this.#nextOrigin();
    if (!(await this.#prove(path, 'other-address', other))) return false;
    if (this.#config.addressRotation === 'onShun') this.#origin = other;
    return true;
  }

  async #prove(
    path: TargetPath,
    reason: 'path' | 'periodic' | 'silent-drop' | 'other-address' | 'before' | 'end',
    from = this.#origin,
  ) {
    path.sinceControl = 0;
    path.isProven = await this.#controls.check(path.target, from, reason, reason === 'before' ? 0 : undefined);
    path.lostProofs = path.isProven ? 0 : path.lostProofs + 1;
    return path.isProven;
  }

  /** Nothing is sent on an unproven path; a lost path is retried a few times. */
  async #isOpen(path: TargetPath | undefined): Promise<boolean> {
    if (path === undefined || this.#context.signal.aborted) return false;
    if (path.isProven) return true;
    if (path.lostProofs >= maxLostProofs) return false;
    return this.#prove(path, 'before');
  }

  #report(
    attempt: Attempt,
    path: TargetPath | undefined,
    seen: ClientOutcome,
    more: { skipped?: Skipped; startedMs?: number; endedMs?: number; isShunned?: boolean },
  ): void {
    const now = this.#clientContext.elapsedMs();
    const observation: ClientObservation = {
      side: 'client',
      attempt: attempt.id,
      target: path === undefined ? '' : `${path.target.host}:${path.target.port}`,
      ...seen,
      startedMs: more.startedMs ?? now,
      endedMs: more.endedMs ?? now,
      isShunned: more.isShunned ?? false,
      ...(more.skipped !== undefined && { skipped: more.skipped }),
    };
    this.#context.record(observation);
    this.#countAttempt(attempt, observation);
    this.#sequence.settle(attempt, clientVerdictOf(observation) === 'passed', more.skipped !== undefined);
  }

  #pathOf({ service }: Attempt): TargetPath | undefined {
    const paths = this.#paths.filter(({ target }) => target.service === service);
    if (paths.length === 0) return undefined;
    const chooser = this.#choosers.get(service) ?? chooserOf(paths, 'roundRobin');
    this.#choosers.set(service, chooser);
    return chooser(0);
  }

  #nextOrigin(): Origin {
    return originOf(this.#sources.next(0));
  }

  /** Hosts have addresses of their own, as far as there are enough. */
  #originOf(host: number | undefined): Origin | undefined {
    return host === undefined ? undefined : originOf(this.#sources.at(Math.floor(host / this.#config.share.count)));
  }

  #noteSharedAddresses(): void {
    const hosts = this.#sequence.hosts.length;
    const addresses = Math.max(1, this.#sources.count);
    if (hosts > addresses) this.#context.note(`${hosts} hosts send from ${addresses} source addresses`);
  }

  #routeOf(target: AttackTarget, from: Origin, timeoutMs: number): AttackRoute {
    const { host, port, transport, isTls } = target;
    return { ...{ host, port, transport, isTls }, address: this.#context.addressOf(host), ...from, timeoutMs };
  }
}

export const prepareAttackClient = async (
  engine: string,
  context: Context,
): Promise<PreparedEngine & Pausable & LoadChangeable> =>
  new AttackClient(engine, context, await prepareSources(context.config.sources, context));
