import { performance } from 'node:perf_hooks';
import type { HttpClientConfig, Journeys } from '@rushhour/protocol';
import type { EngineContext, LoadChange } from '../../../engine.ts';
import { prepareSources, type SourcePool } from '../../../net/addresses/source-addresses.ts';
import { ClientLifecycle } from '../../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../../net/load/load-driver.ts';
import { chooserOf } from '../../../net/load/rotation.ts';
import { IndexedSet } from '../../../net/loop/indexed-set.ts';
import { generatorLoadMetrics } from '../../../net/metrics/generator-load-metrics.ts';
import { LoadDrivenClient } from '../../load-driven-client.ts';
import { createHttpPath, type HttpPath } from '../http-transport.ts';
import { HttpMeters } from '../meters.ts';
import type { Carrier, CarrierContext } from './carrier.ts';
import { H1Carrier } from './h1-carrier.ts';
import { H2Carrier } from './h2-carrier.ts';
import { H3UserCarrier } from './h3-user-carrier.ts';
import { createProgram, maxRequestsOf, type Program } from './program.ts';
import { journeyTargetOf } from './step-request.ts';
import { ExchangeTrace } from './trace.ts';
import { JourneyUser, type UserContext } from './user.ts';
import { VariableBook } from './variables.ts';

export type JourneyConfig = HttpClientConfig & { readonly journeys: Journeys };
type Context = EngineContext<JourneyConfig>;

const maxDrainMs = 2000;
/** Before the next iteration of a user whose last one had no request, such as after the only step has succeeded once. */
const emptyIterationMs = 10;

const okStatusesOf = ({ expect }: JourneyConfig): Uint8Array => {
  const statuses = new Uint8Array(1000);
  if (expect.status.length === 0) statuses.fill(1, 200, 400);
  for (const status of expect.status) statuses[status] = 1;
  return statuses;
};

const createPrograms = ({ config, samples }: Context, path: HttpPath, book: VariableBook): Program[] => {
  let firstCell = 0;
  // Messages are prepared for HTTP/1.1 only.
  const transport =
    path.kind === 'tcp' ? path.transport : { prepareMessage: (bytes: Buffer) => ({ bytes, address: 0 }) };
  return config.journeys.journeys.map((journey, index) => {
    const program = createProgram(journey, index, { config, transport, samples, book, firstCell });
    firstCell = program.endCell;
    return program;
  });
};

/** Users that go through journeys at the configured load. Sessions are iterations, connections are users. */
class JourneyClient extends LoadDrivenClient {
  readonly #context: Context;
  readonly #sources: SourcePool;
  readonly #path: HttpPath;
  readonly #users: readonly JourneyUser[];
  readonly #active = new IndexedSet<JourneyUser>();
  readonly #iterations: LoadDriver;
  readonly #requests: LoadDriver;
  #connections = 0;
  #usersLeft: number;

  constructor(context: Context, sources: SourcePool) {
    super();
    this.#context = context;
    this.#sources = sources;
    this.#path = createHttpPath(context);
    const { config, duration, samples } = context;
    this.#users = this.#createUsers();
    this.#usersLeft = this.#users.length;
    const drivers = {
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      sessionWait: samples.histogram(generatorLoadMetrics.sessionWait),
      createAlarm: this.#path.transport.createAlarm,
    };
    const { load, sessionsPerSecond, totalSessions } = config;
    const isClosed = load.rate === undefined && sessionsPerSecond === undefined;
    this.#iterations = new LoadDriver({
      ...drivers,
      ...(isClosed && { slots: config.connections }),
      load: sessionsPerSecond === undefined ? {} : { rate: sessionsPerSecond },
      limit: Math.min(
        totalSessions ?? Number.POSITIVE_INFINITY,
        duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      ),
      begin: (slot, intended, now) => this.#begin(this.#users[slot] as JourneyUser, intended, now),
    });
    this.#requests = new LoadDriver({
      ...drivers,
      load,
      limit: Number.POSITIVE_INFINITY,
      begin: (slot, intended, now) => (this.#users[slot] as JourneyUser).send(intended, now),
    });
    this.lifecycle = this.#createLifecycle();
  }

  start(): Promise<void> {
    return this.lifecycle.run(() => {
      this.#requests.start();
      for (const { index } of this.#users) this.#iterations.offer(index, performance.now());
      this.#iterations.start();
    });
  }

  changeLoad({ requestsPerSecond, sessionsPerSecond }: LoadChange): { readonly rejected?: string } {
    if (requestsPerSecond !== undefined && !this.#requests.changeRate(requestsPerSecond)) {
      return { rejected: 'this run has no rate of requests' };
    }
    if (sessionsPerSecond !== undefined && !this.#iterations.changeRate(sessionsPerSecond)) {
      return { rejected: 'this run has no rate of sessions' };
    }
    return (requestsPerSecond ?? sessionsPerSecond) ? {} : { rejected: 'http has rates of requests and sessions only' };
  }

  protected override async release(): Promise<void> {
    for (const { carrier } of this.#users) carrier.abandon();
    this.#context.samples.gauge('http.concurrent').set(0);
    await this.#path.transport.close();
    await this.#sources.close();
  }

  #createUsers(): JourneyUser[] {
    const { config } = this.#context;
    const { journeys } = config;
    const book = new VariableBook(journeys, Math.max(...journeys.journeys.map(maxRequestsOf)));
    const programs = createPrograms(this.#context, this.#path, book);
    const carrierOf = this.#createCarriers();
    const parts = {
      initial: book.initial,
      cells: programs.at(-1)?.endCell ?? 0,
      tables: journeys.dictionaries.length,
      context: this.#userContext(programs, book),
    };
    return Array.from({ length: config.connections }, (_, index) => {
      const user = new JourneyUser({ ...parts, index, number: journeys.firstUser + index });
      user.carrier = carrierOf(index);
      return user;
    });
  }

  #createCarriers(): (index: number) => Carrier {
    const { config, samples, addressOf } = this.#context;
    const targets = config.targets.map((target, index) => {
      const meters = new HttpMeters(samples.target(`${target.host}:${target.port}`));
      return {
        weight: target.weight,
        ...journeyTargetOf(config, target, { index, meters, address: addressOf(target.host) }),
      };
    });
    const shared: Omit<CarrierContext, 'index'> = {
      config,
      chooseTarget: chooserOf(targets, config.rotation),
      routeTo: ({ address, target }, user) => ({ address, port: target.port, ...this.#sources.next(user) }),
      onConnecting: () => {
        this.#connections++;
      },
      onClosed: () => {
        this.#connections--;
        this.lifecycle.settle();
      },
    };
    const path = this.#path;
    return (index) => {
      if (path.kind === 'quic') return new H3UserCarrier({ ...shared, index, quic: path.transport });
      const context = { ...shared, index, transport: path.transport };
      return config.version === '2' ? new H2Carrier(context) : new H1Carrier(context);
    };
  }

  #userContext(programs: readonly Program[], book: VariableBook): UserContext {
    const { config, samples, core, putRow } = this.#context;
    const settings = config.journeys.trace;
    const checksFailed = samples.counter('http.checksFailed');
    const iterations = samples.counter('http.iterations');
    const choose = chooserOf(programs, 'roundRobin');
    return {
      trace: settings && new ExchangeTrace({ settings, core, put: (row) => putRow('exchanges', row) }),
      isTls: config.tls !== undefined,
      okStatuses: okStatusesOf(config),
      systemSlots: book.systemSlots(),
      chooseJourney: () => choose(0),
      offerRequest: (user, now) => this.#requests.offer(user.index, now),
      schedule: (ms, action) => this.lifecycle.schedule(ms, () => action(performance.now())),
      onChecksFailed: (count) => checksFailed.add(count),
      onIteration: (user, isCut, now) => {
        if (!isCut) iterations.add(1);
        this.#onIteration(user, now);
      },
    };
  }

  #begin(user: JourneyUser, intended: number, now: number): void {
    this.#active.add(user);
    user.begin(intended, now);
  }

  #onIteration(user: JourneyUser, now: number): void {
    this.#active.delete(user);
    const { lifecycle } = this;
    if (lifecycle.isEnding) user.carrier.retire();
    else if (user.isDone) {
      this.#usersLeft--;
      this.#iterations.withdraw(user.index);
      user.carrier.retire();
    } else if (user.requests > 0) this.#iterations.offer(user.index, now);
    else lifecycle.schedule(emptyIterationMs, () => this.#iterations.offer(user.index, performance.now()));
    lifecycle.settle();
  }

  #sweep(now: number): void {
    const isWatchingIdle = this.#context.config.keepAlive.idleMs > 0;
    for (const { carrier } of isWatchingIdle ? this.#users : this.#active) carrier.sweep(now);
    this.#context.samples.gauge('http.concurrent').set(this.#connections);
  }

  #createLifecycle(): ClientLifecycle {
    const { samples, signal, config } = this.#context;
    return new ClientLifecycle({
      engine: 'http',
      samples,
      signal,
      drivers: [this.#requests, this.#iterations],
      sweepMs: Math.min(100, Math.max(5, config.timeoutMs / 4)),
      drainMs: Math.min(config.timeoutMs, maxDrainMs),
      sweep: (now) => this.#sweep(now),
      isDone: () => this.#active.size === 0 && (this.#iterations.isExhausted || this.#usersLeft === 0),
      isIdle: () => this.#active.size === 0 && this.#connections === 0,
      retire: () => {
        const now = performance.now();
        for (const user of [...this.#active]) user.retire(now);
        for (const user of this.#users) if (!this.#active.has(user)) user.carrier.retire();
      },
    });
  }
}

export const prepareJourneyClient = async (context: Context): Promise<LoadDrivenClient> =>
  new JourneyClient(context, await prepareSources(context.config.sources, context));
