import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackClientConfig, AttackTarget, Attempt, ClientObservation, Exchange } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../../engine.ts';
import { prepareSources, type SourcePool } from '../../../net/addresses/source-addresses.ts';
import { createSecureDialer } from '../../../net/secure-dialer.ts';
import { tlsObserver } from '../../../net/secure-path.ts';
import { Contents, readAttempts } from '../contents.ts';
import { Controls } from '../controls.ts';
import { type AttackRoute, type ClientContext, type ClientOutcome, noOutcome } from '../driver.ts';
import { metersOf } from '../meters.ts';
import { Pace } from '../pace.ts';
import { driverFor } from '../protocols/index.ts';
import { ConnectionPool } from '../transport/connection-pool.ts';
import { causeOf, FindingLog } from './finding-log.ts';
import { minimise } from './minimise.ts';

type Context = EngineContext<AttackClientConfig>;
type Reason = 'path' | 'periodic' | 'silent-drop' | 'end';

const maxSuspects = 20;
const maxTrials = 60;
const spikeMs = 500;
const spikeFactor = 10;
const learnedCases = 20;
const pollMs = 50;

/** Sends cases in sequence, checks the health of the target in between, and identifies the case that stopped it. */
class FuzzClient implements PreparedEngine {
  readonly #context: Context;
  readonly #config: AttackClientConfig;
  readonly #clientContext: ClientContext;
  readonly #findings: FindingLog;
  readonly #sources: SourcePool;
  readonly #controls: Controls;
  readonly #pace: Pace;
  readonly #countAttempt: ReturnType<typeof metersOf>;
  readonly #cases: readonly Attempt[];
  readonly #latencies: number[] = [];
  /** Cases since the last successful health check, newest last. */
  #suspects: Attempt[] = [];
  #startedAt = performance.now();
  #isOver = false;

  constructor(context: Context, sources: SourcePool) {
    const { config, signal, samples } = context;
    this.#context = context;
    this.#config = config;
    this.#sources = sources;
    const contents = new Contents(config.files);
    this.#countAttempt = metersOf('fuzzing', samples);
    this.#pace = new Pace(config.ratePerSecond, signal);
    const dialer = createSecureDialer(config.tls, { note: context.note, ...tlsObserver(context, 'fuzzing') });
    const { runToken, proofKey, marker, share } = config;
    this.#clientContext = {
      ...{ runToken, proofKey, marker, signal },
      // Malformed input may leave a connection in any state; one that is kept has answered as our server does.
      keepAlive: config.keepAlive,
      pool: new ConnectionPool(),
      dialer,
      ...(config.control.host !== undefined && { proofHost: config.control.host }),
      proofPath: config.control.basePath,
      proofVersion: config.control.version,
      ...(config.control.grpcPath !== undefined && { proofGrpcPath: config.control.grpcPath }),
      elapsedMs: () => Math.max(0, performance.now() - this.#startedAt),
      bytesOf: (content) => contents.bytesOf(content),
    };
    this.#findings = new FindingLog({
      count: (kind) => samples.counter(`fuzzing.finding.${kind}`).add(1),
      note: (text) => context.note(text),
      record: (record) => context.record(record),
      elapsedMs: () => this.#clientContext.elapsedMs(),
    });
    this.#cases = readAttempts(config.attempts).filter((_, index) => index % share.count === share.index);
    this.#controls = new Controls({
      context: this.#clientContext,
      ...config.control,
      driverOf: ({ protocol }) => driverFor(protocol),
      routeOf: (target, _, timeoutMs) => this.#routeOf(target, timeoutMs),
      record: (seen) => context.record(seen),
    });
  }

  async start(): Promise<void> {
    this.#startedAt = performance.now();
    const isProven = await Promise.all(this.#config.targets.map((target) => this.#isHealthy(target, 'path')));
    const lost = this.#config.targets.filter((_, i) => !isProven[i]);
    for (const { host, port } of lost) this.#context.note(`${host}:${port} did not prove to be the server agent`);
    this.#pace.begin();
    for (const attempt of this.#cases) {
      const target = this.#targetOf(attempt);
      const isOpen = target !== undefined && !lost.includes(target) && !this.#isOver;
      if (this.#isEnded) return;
      if (isOpen) await this.#tryCase(attempt, target);
      else this.#skip(attempt);
    }
  }

  async close(): Promise<void> {
    this.#clientContext.pool.close();
    this.#clientContext.sessions?.release();
    this.#clientContext.dialer.close();
    await this.#sources.close();
  }

  get #isEnded(): boolean {
    const { maxMs = Number.POSITIVE_INFINITY } = this.#config.fuzz ?? {};
    return this.#context.signal.aborted || this.#clientContext.elapsedMs() > maxMs;
  }

  async #tryCase(attempt: Attempt, target: AttackTarget): Promise<void> {
    await this.#pace.waitForNext(attempt.delayMs ?? 0);
    if (this.#context.signal.aborted) return;
    const startedMs = this.#clientContext.elapsedMs();
    const seen = await this.#send(attempt, target);
    this.#suspects.push(attempt);
    this.#report(attempt, target, seen, startedMs);
    this.#noteOddities(attempt, target, seen);
    const isDue = this.#suspects.length >= this.#config.control.everyAttempts;
    if (!isDue && seen.end === 'response') return;
    if (await this.#isHealthy(target, isDue ? 'periodic' : 'silent-drop')) this.#suspects = [];
    else await this.#findCulprit(target);
  }

  #send(attempt: Attempt, target: AttackTarget): Promise<ClientOutcome> {
    return driverFor(target.protocol)
      .attempt(attempt, this.#routeOf(target, this.#config.timeoutMs), this.#clientContext)
      .catch((error: Error): ClientOutcome => ({ ...noOutcome, error: error.message.slice(0, 500) }));
  }

  async #isHealthy(target: AttackTarget, reason: Reason): Promise<boolean> {
    return (await this.#controls.check(target, {}, reason)).isGood;
  }

  /** Identifies the case that stopped the target and minimises it. */
  async #findCulprit(target: AttackTarget): Promise<void> {
    const suspects = this.#suspects.toReversed().slice(0, maxSuspects);
    this.#suspects = [];
    this.#isOver = this.#config.fuzz?.stopOnHealth ?? true;
    let culprit: Attempt | undefined;
    for (const suspect of suspects) {
      if (!(await this.#hasRecovered(target))) break;
      if (!(await this.#kills(suspect.exchange, suspect, target))) continue;
      culprit = suspect;
      break;
    }
    if (culprit === undefined) return this.#reportLost(suspects, target);
    await this.#reportCrash(culprit, target);
    if (!this.#isOver) this.#isOver = !(await this.#hasRecovered(target));
  }

  /** A crash that is known already is not made again and again to find its shortest input. */
  async #reportCrash(culprit: Attempt, target: AttackTarget): Promise<void> {
    const known = this.#findings.knownCrash(culprit.exchange);
    const reproducer = known === undefined ? await this.#minimised(culprit, target) : culprit.exchange;
    const isMinimised = this.#config.fuzz?.minimise ?? true;
    const cause = known ?? (isMinimised ? causeOf(reproducer) : culprit.variant);
    const detail = `${culprit.refName} stops the target`;
    this.#findings.add('health-lost', { attempt: culprit, target, detail, reproducer, cause });
  }

  #reportLost(suspects: readonly Attempt[], target: AttackTarget): void {
    const [newest, ...others] = suspects;
    const which =
      others.length === 0 ? `after ${newest?.refName}` : `after one of ${others.at(-1)?.refName} to ${newest?.refName}`;
    const detail = `the target stopped ${which}; no single case reproduces it, or the target did not recover`;
    this.#findings.add('health-lost', { target, detail });
    this.#isOver = true;
  }

  async #minimised(culprit: Attempt, target: AttackTarget): Promise<Exchange> {
    if (!(this.#config.fuzz?.minimise ?? true)) return culprit.exchange;
    const stops = async (exchange: Exchange) =>
      (await this.#hasRecovered(target)) && this.#kills(exchange, culprit, target);
    return minimise(culprit.exchange, stops, maxTrials);
  }

  async #kills(exchange: Exchange, attempt: Attempt, target: AttackTarget): Promise<boolean> {
    if (this.#context.signal.aborted) return false;
    await this.#send({ ...attempt, exchange }, target);
    return !(await this.#isHealthy(target, 'silent-drop'));
  }

  async #hasRecovered(target: AttackTarget): Promise<boolean> {
    const { recoveryMs = 60_000 } = this.#config.fuzz ?? {};
    const giveUpAt = this.#clientContext.elapsedMs() + recoveryMs;
    for (;;) {
      if (await this.#isHealthy(target, 'silent-drop')) return true;
      if (this.#clientContext.elapsedMs() > giveUpAt || this.#context.signal.aborted) return false;
      await sleep(pollMs);
    }
  }

  /** Reports unusual responses. */
  #noteOddities(attempt: Attempt, target: AttackTarget, seen: ClientOutcome): void {
    const { exchange: reproducer, expected, category, variant } = attempt;
    const about = { attempt, target, reproducer };
    if (expected === 'block' && seen.responseIsOurs) {
      const detail = `an input that should be refused reached the server: ${category}`;
      this.#findings.add('unexpected-accept', { ...about, detail, cause: category });
    }
    if (seen.connect === 'refused' || seen.connect === 'timeout') {
      const detail = `no connection: ${seen.connect}`;
      this.#findings.add('connection-limit', { target, attempt, detail, cause: seen.connect });
    }
    if (seen.end !== 'response') return;
    const typical = this.#latencies[Math.floor(this.#latencies.length / 2)] ?? Number.POSITIVE_INFINITY;
    if (this.#latencies.length >= learnedCases && seen.ttfbMs > Math.max(spikeMs, typical * spikeFactor)) {
      const detail = `took ${Math.round(seen.ttfbMs)} ms; ${Math.round(typical)} ms is typical`;
      this.#findings.add('latency-spike', { ...about, detail, cause: variant });
    } else if (this.#latencies.length < 1000) {
      this.#latencies.push(seen.ttfbMs);
      this.#latencies.sort((left, right) => left - right);
    }
  }

  #skip(attempt: Attempt): void {
    const skipped = this.#isOver ? 'stopped' : 'path_not_proven';
    this.#report(attempt, this.#targetOf(attempt), noOutcome, this.#clientContext.elapsedMs(), skipped);
  }

  #report(
    attempt: Attempt,
    target: AttackTarget | undefined,
    seen: ClientOutcome,
    startedMs: number,
    skipped?: NonNullable<ClientObservation['skipped']>,
  ): void {
    const observation: ClientObservation = {
      side: 'client',
      attempt: attempt.id,
      target: target === undefined ? '' : `${target.host}:${target.port}`,
      ...seen,
      startedMs,
      endedMs: this.#clientContext.elapsedMs(),
      isShunned: false,
      ...(skipped !== undefined && { skipped }),
    };
    this.#context.record(observation);
    this.#countAttempt(attempt, observation);
  }

  #targetOf({ service }: Attempt): AttackTarget | undefined {
    return this.#config.targets.find((target) => target.service === service);
  }

  #routeOf({ host, port, transport, isTls }: AttackTarget, timeoutMs: number): AttackRoute {
    const { localAddress, via } = this.#sources.next(0);
    const from = { ...(localAddress !== undefined && { localAddress }), ...(via && { via }) };
    return { host, port, transport, isTls, address: this.#context.addressOf(host), ...from, timeoutMs };
  }
}

export const prepareFuzzClient = async (context: Context): Promise<PreparedEngine> =>
  new FuzzClient(context, await prepareSources(context.config.sources, context));
