import { performance } from 'node:perf_hooks';
import type { HttpClientConfig } from '@rushhour/protocol';
import type { EngineContext, LoadChange } from '../../engine.ts';
import { prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { chooserOf, cyclerOf } from '../../net/load/rotation.ts';
import { IndexedSet } from '../../net/loop/indexed-set.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { Message } from '../../net/transport/transport.ts';
import { LoadDrivenClient } from '../load-driven-client.ts';
import { createExpectations } from './expectation.ts';
import { grpcPlanOf } from './grpc/grpc-call.ts';
import { GrpcClientMeters } from './grpc/meters.ts';
import { createTimes, H1Slot } from './h1/h1-slot.ts';
import { KnownHead } from './h1/known-head.ts';
import type { ResponseHead } from './h1/response-parser.ts';
import { H2Slot } from './h2/h2-slot.ts';
import { H3Slot } from './h3/h3-slot.ts';
import { createHttpPath, type HttpPath } from './http-transport.ts';
import { HttpMeters } from './meters.ts';
import { bodiesOf, createRequest } from './request.ts';
import type { Slot, SlotOwner, SlotPlan } from './slot.ts';
import { webSocketMessages } from './websocket/messages.ts';
import { ClientMessageMeters } from './websocket/meters.ts';
import { WsSlot } from './websocket/ws-slot.ts';

type Context = EngineContext<HttpClientConfig>;

const failurePauseMs = 100;
const maxDrainMs = 2000;

/** Chooses target and source of the next connection. */
const createPlan = (context: Context, sources: SourcePool, carrier: HttpPath): SlotPlan => {
  const { config } = context;
  const bodies = bodiesOf(config);
  const prepare = (bytes: Buffer): Message =>
    carrier.kind === 'tcp' ? carrier.transport.prepareMessage(bytes) : { bytes, address: 0 };
  const httpTargets = config.targets.map((target) => {
    const samples = context.samples.target(`${target.host}:${target.port}`);
    return {
      target,
      weight: target.weight,
      address: context.addressOf(target.host),
      meters: new HttpMeters(samples),
      ...(config.webSocket && { messages: new ClientMessageMeters(samples) }),
      ...(config.grpc && { calls: new GrpcClientMeters(samples) }),
      nextRequest: cyclerOf(
        bodies.map((body) => ({ message: prepare(createRequest(config, target, { body })), body })),
      ),
      known: new KnownHead<ResponseHead>(),
    };
  });
  const choose = chooserOf(httpTargets, config.rotation);
  return {
    config,
    chooseTarget: (slot) => {
      const httpTarget = choose(slot);
      const { localAddress, localPort, via } = sources.next(slot);
      return {
        httpTarget,
        route: { address: httpTarget.address, port: httpTarget.target.port, localAddress, localPort, via },
      };
    },
    createExpectation: createExpectations(config.expect),
    nextBody: cyclerOf(bodies),
  };
};

/** Keeps connections and requests at the configured load. */
class HttpClient extends LoadDrivenClient implements SlotOwner {
  readonly #context: Context;
  readonly #config: HttpClientConfig;
  /** Copied from the configuration because it is read after every response. */
  readonly #requestIntervalMs: number;
  readonly #sources: SourcePool;
  readonly #slots: readonly Slot[];
  readonly #sessions: LoadDriver;
  readonly #requests: LoadDriver;
  readonly #active = new IndexedSet<Slot>();
  /** Those whose server takes no more requests. */
  readonly #leaving = new Set<Slot>();
  readonly #carrier: HttpPath;
  /** By slot; connections on their way are not open. */
  readonly #isOpen: Uint8Array;
  #openCount = 0;

  constructor(context: Context, sources: SourcePool) {
    super();
    const { config, duration, samples } = context;
    this.#context = context;
    this.#config = config;
    this.#requestIntervalMs = config.requestIntervalMs;
    this.#sources = sources;
    const carrier = createHttpPath(context);
    this.#carrier = carrier;
    this.#slots = this.#createSlots(createPlan(context, sources, carrier));
    this.#isOpen = new Uint8Array(config.connections);
    const lag = samples.histogram(generatorLoadMetrics.scheduleLag);
    const sessionWait = samples.histogram(generatorLoadMetrics.sessionWait);
    const drivers = { duration, lag, sessionWait, createAlarm: carrier.transport.createAlarm };
    // With one request per connection the request rate is the connection rate.
    const isOneShot = !config.keepAlive.enabled && config.sessionsPerSecond === undefined;
    const sessionLoad = isOneShot
      ? config.load
      : { ...(config.sessionsPerSecond && { rate: config.sessionsPerSecond }) };
    const depth = config.version === '1.1' ? config.pipelining : config.maxStreams;
    const isClosed = config.load.rate === undefined && config.sessionsPerSecond === undefined;
    this.#sessions = new LoadDriver({
      ...drivers,
      ...(isClosed && (isOneShot || config.openSessions !== undefined) && { slots: config.connections }),
      busy: config.openSessions,
      load: sessionLoad,
      limit:
        config.totalSessions ?? (isOneShot && duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY),
      begin: (slot, intended) =>
        this.#connect(this.#slots[slot] as Slot, this.#sessions.isPaced ? intended : Number.NaN),
    });
    this.#requests = new LoadDriver({
      ...drivers,
      ...(isClosed && !isOneShot && config.openSessions === undefined && { slots: config.connections * depth }),
      load: isOneShot ? {} : config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      begin: (slot, intended, now) => (this.#slots[slot] as Slot).begin(intended, now),
    });
    this.lifecycle = this.#createLife();
  }

  start(): Promise<void> {
    return this.lifecycle.run(() => {
      this.#requests.start();
      for (const slot of this.#slots) this.#sessions.offer(slot.index, performance.now());
      this.#sessions.start();
    });
  }

  changeLoad(change: LoadChange): { readonly rejected?: string } {
    const { requestsPerSecond, sessionsPerSecond, concurrentSessions } = change;
    if (concurrentSessions !== undefined) {
      return this.#sessions.changeBusy(concurrentSessions) ? {} : { rejected: 'this run keeps no number of sessions' };
    }
    const requests = this.#requests.isPaced ? this.#requests : this.#sessions;
    if (requestsPerSecond !== undefined && !requests.changeRate(requestsPerSecond)) {
      return { rejected: 'this run has no rate of requests' };
    }
    if (sessionsPerSecond !== undefined && !this.#sessions.changeRate(sessionsPerSecond)) {
      return { rejected: 'this run has no rate of sessions' };
    }
    return (requestsPerSecond ?? sessionsPerSecond) ? {} : { rejected: 'http has rates of requests and sessions only' };
  }

  protected override async release(): Promise<void> {
    for (const slot of this.#slots) slot.abandon();
    this.#context.samples.gauge('http.concurrent').set(0);
    await this.#carrier.transport.close();
    await this.#sources.close();
  }

  onOpen(slot: Slot, room: number, now: number): void {
    this.#isOpen[slot.index] = 1;
    this.#openCount++;
    // A session that was due before the end still sends its request.
    if (this.lifecycle.isEnding && this.#sessions.isPaced) slot.begin(now, now);
    for (let i = 0; i < room; i++) this.#requests.offer(slot.index, now);
    this.lifecycle.settle();
  }

  onRoom(slot: Slot, now: number): void {
    const requestIntervalMs = this.#requestIntervalMs;
    if (requestIntervalMs === 0) this.#requests.offer(slot.index, now);
    else {
      const { session } = slot;
      this.lifecycle.schedule(requestIntervalMs, () => {
        const isUsable = slot.session === session && this.#active.has(slot) && !this.#leaving.has(slot);
        if (isUsable) this.#requests.offer(slot.index, performance.now());
      });
    }
    this.lifecycle.settle();
  }

  onLeave(slot: Slot): void {
    this.#leaving.add(slot);
    this.#requests.recall(slot.index);
  }

  onEnd(slot: Slot, hasFailed: boolean, now: number): void {
    this.#active.delete(slot);
    this.#leaving.delete(slot);
    this.#openCount -= this.#isOpen[slot.index] as number;
    this.#isOpen[slot.index] = 0;
    this.#requests.withdraw(slot.index);
    this.lifecycle.settle();
    if (this.lifecycle.isEnding || this.#sessions.isExhausted) return;
    const { reopenSessionMs } = this.#config;
    const waitMs = hasFailed && !this.#sessions.isPaced ? Math.max(reopenSessionMs, failurePauseMs) : reopenSessionMs;
    if (waitMs === 0) this.#sessions.offer(slot.index, now);
    else this.lifecycle.schedule(waitMs, () => this.#sessions.offer(slot.index, performance.now()));
  }

  #createSlots(plan: SlotPlan): Slot[] {
    const { config } = plan;
    const carrier = this.#carrier;
    const times = createTimes(config.connections * config.pipelining);
    const { webSocket, grpc: settings } = config;
    const grpc = settings && grpcPlanOf(settings);
    const messages = webSocket && { settings: webSocket, nextMessage: cyclerOf(webSocketMessages(webSocket)) };
    return Array.from({ length: config.connections }, (_, index) => {
      if (carrier.kind === 'quic') return new H3Slot({ index, plan, quic: carrier.transport, owner: this });
      const deps = { index, plan, transport: carrier.transport, owner: this };
      if (messages !== undefined) return new WsSlot({ ...deps, ...messages });
      return config.version === '2' ? new H2Slot({ ...deps, grpc }) : new H1Slot({ ...deps, times });
    });
  }

  #connect(slot: Slot, intended: number): void {
    this.#active.add(slot);
    slot.connect(intended);
  }

  /** Closes connections that are more than wanted. */
  #closeExcess(now: number): void {
    let left = this.#sessions.excessAt(now);
    for (const slot of this.#active) {
      if (left-- <= 0) return;
      slot.retire();
    }
  }

  #createLife(): ClientLifecycle {
    const { samples, signal } = this.#context;
    const concurrent = samples.gauge('http.concurrent');
    return new ClientLifecycle({
      engine: 'http',
      samples,
      signal,
      drivers: [this.#requests, this.#sessions],
      sweepMs: Math.min(100, Math.max(5, this.#config.timeoutMs / 4)),
      drainMs: Math.min(this.#config.timeoutMs, maxDrainMs),
      sweep: (now) => {
        for (const slot of this.#active) slot.sweep(now);
        this.#closeExcess(now);
        concurrent.set(this.#openCount);
      },
      isDone: () =>
        (this.#requests.isExhausted && this.#slots.every((slot) => slot.inFlight === 0)) ||
        (this.#sessions.isExhausted && this.#active.size === 0),
      isIdle: () => this.#active.size === 0,
      retire: () => {
        for (const slot of this.#active) slot.retire();
      },
    });
  }
}

export const prepareHttpClient = async (context: Context): Promise<LoadDrivenClient> =>
  new HttpClient(context, await prepareSources(context.config.sources, context));
