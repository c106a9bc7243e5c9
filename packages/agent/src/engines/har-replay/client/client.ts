import { readFileSync } from 'node:fs';
import type { HarOrigin, HarReplayClientConfig, HarScript } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../../engine.ts';
import { prepareSources, type SourcePool } from '../../../net/addresses/source-addresses.ts';
import { ClientLifecycle } from '../../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../../net/load/load-driver.ts';
import { generatorLoadMetrics } from '../../../net/metrics/generator-load-metrics.ts';
import { createSecureDialer } from '../../../net/secure-dialer.ts';
import { tlsObserver } from '../../../net/secure-path.ts';
import type { SecureDialer, SessionStore } from '../../../net/tls/dialer.ts';
import { HostMeters, ReplayMeters } from '../meters.ts';
import { dial } from './dial.ts';
import { dialH3 } from './h3-connection.ts';
import { QuicClients } from './quic-clients.ts';
import { createRoutes } from './routes.ts';
import { User, type UserDeps } from './user.ts';

type Context = EngineContext<HarReplayClientConfig>;

const failurePauseMs = 100;
const drainMs = 2000;
const maxHosts = 32;

/** Metrics of each recorded host; hosts beyond `maxHosts` share one entry. */
const createHostMeters = ({ samples }: Context, origins: readonly HarOrigin[]) => {
  const hosts = [...new Set(origins.map(({ host }) => host))];
  const names = origins.map(({ host }) => (hosts.indexOf(host) < maxHosts ? host : 'other hosts'));
  const byName = new Map([...new Set(names)].map((name) => [name, new HostMeters(samples.target(name))]));
  return (origin: number) => byName.get(names[origin] ?? '') as HostMeters;
};

/** Dependencies shared by all users; each user opens its own connections. */
type SharedDeps = Omit<UserDeps, 'open'> & { open: (slot: number) => UserDeps['open'] };

/** Starts users at the configured load. */
class ReplayClient implements PreparedEngine {
  readonly #context: Context;
  readonly #sources: SourcePool;
  readonly #driver: LoadDriver;
  readonly #life: ClientLifecycle;
  readonly #meters: ReplayMeters;
  readonly #deps: SharedDeps;
  readonly #active = new Set<User>();
  readonly #over = new AbortController();
  readonly #quic: QuicClients;
  readonly #dialer: SecureDialer;
  readonly #stores = new Set<SessionStore>();
  /** Remaining visits in mode `count`. */
  #visitsLeft: number;
  #begun = 0;

  constructor(context: Context, sources: SourcePool, script: HarScript) {
    const { config, duration, samples } = context;
    this.#context = context;
    this.#sources = sources;
    this.#meters = new ReplayMeters(samples);
    this.#visitsLeft = duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY;
    const observer = tlsObserver(context, 'har-replay');
    this.#quic = new QuicClients(config.tls, context.hostNetwork, observer);
    this.#dialer = createSecureDialer(config.tls, { note: context.note, ...observer });
    this.#deps = this.#createDeps(script);
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      sessionWait: samples.histogram(generatorLoadMetrics.sessionWait),
      load: config.usersPerSecond === undefined ? {} : { rate: config.usersPerSecond },
      // Without a rate each slot starts one user; with a rate, users start until the run ends.
      limit: config.usersPerSecond === undefined ? config.users : Number.POSITIVE_INFINITY,
      begin: (slot) => void this.#begin(slot),
    });
    this.#life = this.#createLife();
  }

  start(): Promise<void> {
    return this.#life.run(() => {
      for (let slot = 0; slot < this.#context.config.users; slot++) this.#driver.offer(slot, performance.now());
      this.#driver.start();
      // With more cores than users, some cores have none.
      this.#life.settle();
    });
  }

  async close(): Promise<void> {
    this.#life.close();
    this.#over.abort();
    for (const user of this.#active) user.leave();
    this.#meters.users.set(0);
    await this.#quic.close();
    for (const store of this.#stores) store.release();
    this.#dialer.close();
    await this.#sources.close();
  }

  #createDeps(script: HarScript): SharedDeps {
    const { config, addressOf } = this.#context;
    const findRoute = createRoutes({ config, origins: script.origins, sources: this.#sources, addressOf });
    const dialer = this.#dialer;
    const meters = this.#meters;
    const { signal } = this.#over;
    const open = (slot: number) => {
      const sessions = config.tls.resumption === 'none' ? undefined : dialer.createStore();
      if (sessions !== undefined) this.#stores.add(sessions);
      const { timeoutMs } = config;
      return async (index: number) => {
        const origin = script.origins[index] as HarOrigin;
        const how = { route: findRoute(index, slot), counters: meters, timeoutMs, signal };
        const isHttp3 = config.http3 && origin.version === '3';
        const httpConnection = isHttp3
          ? await dialH3({ ...how, quic: this.#quic.of(origin) })
          : await dial({ ...how, origin, dialer, sessions });
        meters.connections.add(1);
        return httpConnection;
      };
    };
    return {
      config,
      script,
      meters,
      metersOf: createHostMeters(this.#context, script.origins),
      open,
      isEnding: () => this.#life.isEnding,
      pause: (ms) => this.#pause(ms),
    };
  }

  /** Runs all visits of one user. */
  async #begin(slot: number): Promise<void> {
    const { config, samples } = this.#context;
    if (this.#life.isEnding) {
      samples.counter('har-replay.dropped').add(1);
      return;
    }
    const number = this.#begun++;
    const user = new User({ ...this.#deps, open: this.#deps.open(slot) });
    this.#active.add(user);
    const isCounted = Number.isFinite(this.#visitsLeft) && !this.#driver.isPaced;
    const max = isCounted || config.iterations === 0 ? Number.POSITIVE_INFINITY : config.iterations;
    for (let done = 0; done < max && this.#visitsLeft > 0 && !this.#life.isEnding; done++) {
      this.#visitsLeft--;
      const isWhole = await user.visit(config.firstUser + number + done * config.users);
      // Avoids a tight loop against a server that refuses connections.
      if (!isWhole) await this.#pause(failurePauseMs);
    }
    user.leave();
    this.#active.delete(user);
    this.#life.settle();
    if (this.#driver.isPaced && this.#visitsLeft > 0 && !this.#life.isEnding)
      this.#driver.offer(slot, performance.now());
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#context;
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });
  }

  #createLife(): ClientLifecycle {
    const { samples, signal } = this.#context;
    return new ClientLifecycle({
      engine: 'har-replay',
      samples,
      signal,
      drivers: [this.#driver],
      sweepMs: 100,
      drainMs,
      sweep: () => this.#meters.users.set(this.#active.size),
      isDone: () => (this.#driver.isExhausted || this.#visitsLeft <= 0) && this.#active.size === 0,
      isIdle: () => this.#active.size === 0,
      retire: () => {},
    });
  }
}

export const prepareReplayClient = async (context: Context): Promise<PreparedEngine> => {
  const script = JSON.parse(readFileSync(context.config.script, 'utf8')) as HarScript;
  return new ReplayClient(context, await prepareSources(context.config.sources, context), script);
};
