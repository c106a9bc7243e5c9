import type { HttpClientConfig } from '@rushhour/protocol';
import type { EngineContext, LoadChange, LoadChangeable, Pausable, Run } from '../../engine.ts';
import { LoadDriver } from '../../net/load-driver.ts';
import { createNodeTlsTransport, createNodeTransport } from '../../net/node-transport.ts';
import { chooserOf } from '../../net/rotation.ts';
import { prepareSources, type SourcePool } from '../../net/source-addresses.ts';
import { clientTlsOptions } from '../../net/tls-options.ts';
import type { Transport } from '../../net/transport.ts';
import { strainMetrics } from '../../saturation.ts';
import { H1Slot } from './h1-slot.ts';
import { H2Slot } from './h2-slot.ts';
import { HttpMeters } from './meters.ts';
import type { Slot, SlotOwner, SlotPlan } from './slot.ts';

type Context = EngineContext<HttpClientConfig>;

const failurePauseMs = 100;
const mostDrainMs = 2000;

const createTransport = (config: HttpClientConfig): Transport => {
  if (config.tls === undefined) return createNodeTransport();
  const options = clientTlsOptions(config.tls, config.tls.alpn.length > 0 ? config.tls.alpn : ['http/1.1']);
  return createNodeTlsTransport(() => options);
};

/** Where the next connection goes and comes from. */
const createPlan = (context: Context, sources: SourcePool): SlotPlan => {
  const { config } = context;
  const ways = config.targets.map((target) => ({
    target,
    weight: target.weight,
    address: context.addressOf(target.host),
    meters: new HttpMeters(context.samples.target(`${target.host}:${target.port}`)),
  }));
  const choose = chooserOf(ways, config.rotation);
  return {
    config,
    route: (slot) => {
      const { target, address, meters } = choose(slot);
      return { target, meters, route: { address, port: target.port, ...sources.next(slot) } };
    },
  };
};

/** Keeps connections and requests at the ordered load. */
class HttpClient implements Run, Pausable, LoadChangeable, SlotOwner {
  readonly #context: Context;
  readonly #config: HttpClientConfig;
  readonly #sources: SourcePool;
  readonly #slots: readonly Slot[];
  readonly #sessions: LoadDriver;
  readonly #requests: LoadDriver;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #active = new Set<Slot>();
  #sweeper: NodeJS.Timeout | undefined;
  #isEnding = false;
  #finish: () => void = () => {};

  constructor(context: Context, sources: SourcePool) {
    const { config, duration, samples } = context;
    this.#context = context;
    this.#config = config;
    this.#sources = sources;
    const plan = createPlan(context, sources);
    const transport = createTransport(config);
    this.#slots = Array.from({ length: config.connections }, (_, index) =>
      config.version === '2'
        ? new H2Slot({ index, plan, owner: this })
        : new H1Slot({ index, plan, transport, owner: this }),
    );
    const lag = samples.histogram(strainMetrics.scheduleLag);
    const drivers = { duration, lag };
    // One request on each connection: the rate of requests is the rate of connections.
    const isOneShot = !config.keepAlive.enabled && config.sessionsPerSecond === undefined;
    const sessionLoad = isOneShot
      ? config.load
      : { ...(config.sessionsPerSecond && { rate: config.sessionsPerSecond }) };
    this.#sessions = new LoadDriver({
      ...drivers,
      load: sessionLoad,
      limit:
        config.totalSessions ?? (isOneShot && duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY),
      begin: (slot, intended) =>
        this.#connect(this.#slots[slot] as Slot, this.#sessions.isPaced ? intended : Number.NaN),
    });
    this.#requests = new LoadDriver({
      ...drivers,
      load: isOneShot ? {} : config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      begin: (slot, intended, now) => (this.#slots[slot] as Slot).begin(intended, now),
    });
  }

  async start(): Promise<void> {
    const { signal, samples } = this.#context;
    const done = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const concurrent = samples.gauge('http.concurrent');
    const targetLoad = samples.gauge('http.targetLoad');
    const sweepMs = Math.min(100, Math.max(5, this.#config.timeoutMs / 4));
    this.#sweeper = setInterval(() => {
      const now = performance.now();
      for (const slot of this.#slots) slot.sweep(now);
      concurrent.set(this.#active.size);
      targetLoad.set(this.#requests.rate || this.#sessions.rate);
    }, sweepMs);
    signal.addEventListener('abort', () => this.#end(), { once: true });
    this.#requests.start();
    for (const slot of this.#slots) this.#sessions.offer(slot.index, performance.now());
    this.#sessions.start();
    if (signal.aborted) this.#end();
    await done;
  }

  pause(): void {
    this.#sessions.pause();
    this.#requests.pause();
  }

  resume(): void {
    this.#requests.resume();
    this.#sessions.resume();
  }

  changeLoad(change: LoadChange): { readonly rejected?: string } {
    const { requestsPerSecond, sessionsPerSecond } = change;
    const requests = this.#requests.isPaced ? this.#requests : this.#sessions;
    if (requestsPerSecond !== undefined && !requests.changeRate(requestsPerSecond)) {
      return { rejected: 'this run has no rate of requests' };
    }
    if (sessionsPerSecond !== undefined && !this.#sessions.changeRate(sessionsPerSecond)) {
      return { rejected: 'this run has no rate of sessions' };
    }
    return (requestsPerSecond ?? sessionsPerSecond) ? {} : { rejected: 'http has rates of requests and sessions only' };
  }

  async close(): Promise<void> {
    this.#end();
    clearInterval(this.#sweeper);
    for (const timer of this.#timers) clearTimeout(timer);
    for (const slot of this.#slots) slot.abandon();
    this.#context.samples.gauge('http.concurrent').set(0);
    await this.#sources.close();
  }

  onOpen(slot: Slot, room: number, now: number): void {
    for (let i = 0; i < room; i++) this.#requests.offer(slot.index, now);
    this.#settle();
  }

  onRoom(slot: Slot, now: number): void {
    const { requestIntervalMs } = this.#config;
    if (requestIntervalMs === 0) this.#requests.offer(slot.index, now);
    else {
      const { session } = slot;
      this.#later(requestIntervalMs, () => {
        if (slot.session === session && this.#active.has(slot)) this.#requests.offer(slot.index, performance.now());
      });
    }
    this.#settle();
  }

  onEnd(slot: Slot, hasFailed: boolean, now: number): void {
    this.#active.delete(slot);
    this.#requests.withdraw(slot.index);
    this.#settle();
    if (this.#isEnding || this.#sessions.isExhausted) return;
    const { reopenSessionMs } = this.#config;
    const waitMs = hasFailed && !this.#sessions.isPaced ? Math.max(reopenSessionMs, failurePauseMs) : reopenSessionMs;
    if (waitMs === 0) this.#sessions.offer(slot.index, now);
    else this.#later(waitMs, () => this.#sessions.offer(slot.index, performance.now()));
  }

  #connect(slot: Slot, intended: number): void {
    this.#active.add(slot);
    slot.connect(intended);
  }

  #later(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  }

  /** Ends when everything that was ordered is done. */
  #settle(): void {
    if (this.#isEnding) {
      if (this.#active.size === 0) this.#finish();
      return;
    }
    const isIdle = () => this.#slots.every((slot) => slot.inFlight === 0);
    if (this.#requests.isExhausted && isIdle()) this.#end();
    else if (this.#sessions.isExhausted && this.#active.size === 0) this.#end();
  }

  /** Begins nothing more and gives what is under way a little time. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#context.samples.counter('http.dropped').add(this.#requests.stop() + this.#sessions.stop());
    for (const slot of this.#active) slot.retire();
    this.#later(Math.min(this.#config.timeoutMs, mostDrainMs), () => this.#finish());
    this.#settle();
  }
}

export const prepareHttpClient = async (context: Context): Promise<Run & Pausable & LoadChangeable> =>
  new HttpClient(context, await prepareSources(context.config.sources, context));
