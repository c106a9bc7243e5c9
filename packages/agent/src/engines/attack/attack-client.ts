import type {
  AttackClientConfig,
  AttackTarget,
  Attempt,
  ClientObservation,
  ControlObservation,
} from '@rushhour/protocol';
import type { EngineContext, LoadChange, LoadChangeable, Pausable, PreparedEngine } from '../../engine.ts';
import { type LocalEndpoint, prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { createSecureDialer } from '../../net/secure-dialer.ts';
import { tlsObserver } from '../../net/secure-path.ts';
import { BarePath } from './bare-path.ts';
import { Contents, readAttempts } from './contents.ts';
import { Controls, type Origin } from './controls.ts';
import { type AttackRoute, type ClientContext, type ClientOutcome, noOutcome } from './driver.ts';
import { clientVerdictOf, metersOf } from './meters.ts';
import { Pace } from './pace.ts';
import { driverFor } from './protocols/index.ts';
import { attemptScan } from './protocols/raw/scan.ts';
import { isSilence, Patience, pause, RateLimits } from './retries.ts';
import { Sequence } from './sequence.ts';
import { Solo } from './solo.ts';
import { ConnectionPool } from './transport/connection-pool.ts';
import { CookieJar } from './transport/cookie-jar.ts';
import { shapedRoute } from './transport/packet-shapes.ts';
import { Paths, type TargetPath, unprovenPath } from './transport/target-path.ts';

type Context = EngineContext<AttackClientConfig>;
type Skipped = NonNullable<ClientObservation['skipped']>;

/** After this many failed proofs in a row a path is given up, so that a dead path does not take hours. */
const maxLostProofs = 3;

const originOf = ({ localAddress, via }: LocalEndpoint): Origin => ({
  ...(localAddress !== undefined && { localAddress }),
  ...(via && { via }),
});

/** An attempt under way. */
interface Work {
  readonly attempt: Attempt;
  readonly path: TargetPath;
  readonly from: Origin;
}

/** The outcome of the last time an attempt was sent. */
interface Sent extends ClientOutcome {
  readonly timeoutMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly tries: number;
  readonly isShunned: boolean;
  readonly isRateLimited: boolean;
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
  readonly #pathsOf: Paths;
  readonly #sequence: Sequence;
  readonly #pace: Pace;
  readonly #countAttempt: ReturnType<typeof metersOf>;
  readonly #attempts: readonly Attempt[];
  readonly #solo = new Solo();
  readonly #patience: Patience;
  readonly #rateLimits = new RateLimits();
  readonly #recovering = new Map<TargetPath, Promise<boolean>>();
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
    this.#patience = new Patience(config.timeoutMs);
    const dialer = createSecureDialer(config.tls, { note: context.note, ...tlsObserver(context, engine) });
    const { runToken, proofKey, marker, keepAlive, share } = config;
    this.#clientContext = {
      ...{ runToken, proofKey, marker, keepAlive, signal },
      pool: new ConnectionPool(),
      ...(config.control.host !== undefined && { proofHost: config.control.host }),
      proofPath: config.control.basePath,
      proofVersion: config.control.version,
      ...(config.control.grpcPath !== undefined && { proofGrpcPath: config.control.grpcPath }),
      ...(config.followCookies && { cookies: new CookieJar() }),
      dialer,
      ...(config.tls.resumption !== 'none' && { sessions: dialer.createStore() }),
      elapsedMs: () => Math.max(0, performance.now() - this.#startedAt),
      bytesOf: (content) => this.#contents.bytesOf(content),
    };
    this.#paths = config.targets.map(unprovenPath);
    this.#pathsOf = new Paths(this.#paths);
    this.#attempts = readAttempts(config.attempts).filter(
      ({ host }, index) => (host ?? index) % share.count === share.index,
    );
    this.#sequence = new Sequence(this.#attempts);
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
    // All proofs at once would look like a scan: those of a campaign come right before what they are for.
    const isCovert = this.#attempts[0]?.kind === 'campaign';
    if (!isCovert) await Promise.all(this.#paths.map((path) => this.#prove(path, 'path')));
    this.#noteUnproven(isCovert ? [] : this.#paths);
    this.#pace.begin();
    await this.#calibrate();
    this.#noteSharedAddresses();
    const workers = Array.from({ length: this.#config.concurrency }, () => this.#work(undefined));
    await Promise.all([...workers, ...this.#sequence.hosts.map((host) => this.#work(host))]);
    for (const path of this.#paths) if (path.isProven && path.sinceControl > 0) await this.#prove(path, 'end');
    if (isCovert) this.#noteUnproven(this.#paths.filter(({ lostProofs, wasProven }) => lostProofs > 0 && !wasProven));
  }

  #noteUnproven(paths: readonly TargetPath[]): void {
    for (const { target, isProven } of paths) {
      if (!isProven) this.#context.note(`${target.host}:${target.port} did not prove to be the server agent`);
    }
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
    this.#clientContext.sessions?.release();
    this.#clientContext.dialer.close();
    this.#contents.wipe();
    await this.#sources.close();
  }

  async #work(host: number | undefined): Promise<void> {
    const { signal } = this.#context;
    for (;;) {
      const next = signal.aborted ? undefined : this.#sequence.next(host);
      if (next === undefined) return;
      const path = this.#pathsOf.pathOf(next);
      const hasNoAddress = path === undefined && next.addressIndex !== undefined;
      const skipped = (await this.#sequence.reasonToSkip(next)) ?? (hasNoAddress ? 'no_address' : undefined);
      if (skipped === undefined && (await this.#isOpen(path, next))) {
        await this.#pace.waitForNext(next.delayMs ?? 0);
        // Attempts that have not started at the end of the run are not reported.
        if (signal.aborted) return;
        await this.#try(next, path as TargetPath);
      } else this.#report(next, path, noOutcome, { skipped: skipped ?? 'path_not_proven' });
    }
  }

  async #try(attempt: Attempt, path: TargetPath): Promise<void> {
    const { addressRotation, control } = this.#config;
    const isRotated = addressRotation === 'perAttempt';
    const from = this.#originOf(attempt.host) ?? (isRotated ? this.#nextOrigin() : this.#origin);
    const first = await this.#solo.shared(() => this.#send(attempt, path, from));
    path.sinceControl += 1;
    const last = await this.#settleDoubt({ attempt, path, from }, first);
    const { startedMs, endedMs, tries, isShunned, isRateLimited, timeoutMs: _, ...seen } = last;
    const isRetried = tries > 1 ? { ...seen, tries } : seen;
    this.#report(
      attempt,
      path,
      { ...isRetried, ...(isRateLimited && { isRateLimited }) },
      { startedMs, endedMs, isShunned },
    );
    if (path.sinceControl >= control.everyAttempts) await this.#prove(path, 'periodic', { after: attempt });
  }

  async #send(attempt: Attempt, path: TargetPath, from: Origin, timeoutMs = this.#patience.timeoutMs): Promise<Sent> {
    const startedMs = this.#clientContext.elapsedMs();
    const route = shapedRoute(this.#routeOf(path.target, from, timeoutMs), attempt.exchange);
    const isScan = attempt.exchange.protocol === 'scan';
    const sending = isScan
      ? attemptScan(attempt, route, this.#clientContext)
      : path.driver.attempt(attempt, route, this.#clientContext);
    const seen = await sending.catch(
      (error: Error): ClientOutcome => ({ ...noOutcome, error: error.message.slice(0, 500) }),
    );
    const endedMs = this.#clientContext.elapsedMs();
    if (seen.end === 'response') this.#patience.note(endedMs - startedMs, endedMs);
    return { ...seen, timeoutMs, startedMs, endedMs, tries: 1, isShunned: false, isRateLimited: false };
  }

  /** Silence and rate limits may say nothing of the attempt: it is sent again, alone, before it is judged. */
  async #settleDoubt(work: Work, first: Sent): Promise<Sent> {
    if (this.#rateLimits.isDoubtful(first)) return this.#afterRateLimit(work, first);
    // A port that is closed as it should be is no silence.
    if (work.attempt.exchange.protocol === 'scan' && first.responseIsOurs) return first;
    return isSilence(first) && this.#config.control.afterSilentDrop ? this.#afterSilence(work, first) : first;
  }

  async #afterRateLimit({ attempt, path, from }: Work, first: Sent): Promise<Sent> {
    const { signal } = this.#context;
    return this.#solo.alone(async () => {
      const { seen, tries } = await this.#rateLimits.resend(first, () => this.#send(attempt, path, from), signal);
      const last = { ...(seen as Sent), tries };
      if (!this.#rateLimits.isDoubtful(seen)) return last;
      const { isGood } = await this.#prove(path, 'periodic', { from, after: attempt });
      if (isGood) this.#rateLimits.notePersisted(seen.status);
      return { ...last, isRateLimited: !isGood };
    });
  }

  async #afterSilence(work: Work, first: Sent): Promise<Sent> {
    const { attempt, path, from } = work;
    const { isGood, hasArrived = false } = await this.#prove(path, 'silent-drop', { from, after: attempt });
    if (isGood) return first.end === 'timeout' ? this.#waitLonger(work, first, hasArrived) : first;
    if (await this.#isOtherServed(path)) return { ...first, isShunned: true };
    if (!(await this.#recover(path, from))) return first;
    return this.#solo.alone(async () => {
      const again = await this.#send(attempt, path, from);
      if (!isSilence(again)) return { ...again, tries: 2 };
      const isServed = (await this.#prove(path, 'silent-drop', { from, after: attempt })).isGood;
      // Lost twice, each time right after this attempt: its sender is shut out for a while.
      return { ...again, tries: 2, isShunned: !isServed };
    });
  }

  /** Where the server had everything the answer is late, or kept back; elsewhere the device may be slow. */
  #waitLonger({ attempt, path, from }: Work, first: Sent, hasArrived: boolean): Promise<Sent> {
    return this.#solo.alone(async () => {
      if (!hasArrived && !this.#patience.isTooShort(first.timeoutMs, first.endedMs)) return first;
      const again = await this.#send(attempt, path, from, this.#patience.longTimeoutMs);
      if (again.end === 'response') this.#patience.learn(again.endedMs - again.startedMs);
      if (isSilence(again)) await this.#prove(path, 'silent-drop', { from, after: attempt });
      return { ...again, tries: first.tries + 1 };
    });
  }

  /** True when only this source address is blocked. */
  async #isOtherServed(path: TargetPath): Promise<boolean> {
    if (this.#sources.count < 2) return false;
    const other = this.#nextOrigin();
    if (!(await this.#prove(path, 'other-address', { from: other })).isGood) return false;
    if (this.#config.addressRotation === 'onShun') this.#origin = other;
    return true;
  }

  /** Waits until a lost path is back; false when it stays away for too long. */
  #recover(path: TargetPath, from = this.#origin): Promise<boolean> {
    const running = this.#recovering.get(path) ?? this.#waitForPath(path, from);
    this.#recovering.set(path, running);
    return running.finally(() => this.#recovering.delete(path));
  }

  async #waitForPath(path: TargetPath, from: Origin): Promise<boolean> {
    if (!path.wasProven) return false;
    const { signal } = this.#context;
    const deadline = performance.now() + this.#config.control.recoveryMs;
    for (let ms = 500; performance.now() < deadline && !signal.aborted; ms = Math.min(ms * 2, 5000)) {
      await pause(Math.min(ms, deadline - performance.now()), signal);
      if (!signal.aborted && (await this.#prove(path, 'before', { from })).isGood) return true;
    }
    path.wasProven = false;
    return false;
  }

  async #prove(
    path: TargetPath,
    reason: ControlObservation['reason'],
    { from = this.#origin, after }: { from?: Origin; after?: Attempt } = {},
  ) {
    path.sinceControl = 0;
    const retries = reason === 'before' ? 0 : undefined;
    const proof = await this.#controls.check(path.target, from, reason, { retries, after });
    path.isProven = proof.isGood;
    path.wasProven ||= proof.isGood;
    path.lostProofs = path.isProven ? 0 : path.lostProofs + 1;
    return proof;
  }

  /** Nothing is sent on an unproven path; a lost path may come back. */
  async #isOpen(path: TargetPath | undefined, next: Attempt): Promise<boolean> {
    if (path === undefined || this.#context.signal.aborted) return false;
    if (path.isProven) return true;
    const from = this.#originOf(next.host) ?? this.#origin;
    if (path.wasProven) return this.#recover(path, from);
    if (path.lostProofs >= maxLostProofs) return false;
    return (await this.#prove(path, 'before', { from, after: next })).isGood;
  }

  /** Sends everything past the device first, so that what the path itself rejects or rewrites is known. */
  async #calibrate(): Promise<void> {
    const { bare, concurrency } = this.#config;
    const [path] = this.#paths;
    if (bare === undefined || path === undefined) return;
    const target = { ...path.target, ...bare };
    const barePath = new BarePath({
      driver: path.driver,
      target,
      route: this.#routeOf(target, this.#origin, this.#patience.timeoutMs),
      context: { ...this.#clientContext, isBare: true },
      pace: this.#pace,
      record: (seen) => this.#context.record(seen),
    });
    const { isGood, detail } = await this.#controls.check(target, this.#origin, 'path');
    if (isGood) await barePath.send(this.#attempts, concurrency);
    else
      this.#context.note(`${bare.host}:${bare.port} leads not to the server agent (${detail}): nothing is calibrated`);
  }

  #report(
    attempt: Attempt,
    path: TargetPath | undefined,
    seen: ClientOutcome & Pick<ClientObservation, 'tries' | 'isRateLimited'>,
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
