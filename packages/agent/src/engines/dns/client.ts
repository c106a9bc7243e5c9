import type { DnsClientConfig, Target } from '@rushhour/protocol';
import type { EngineContext, LoadChange, LoadChangeable, Pausable, PreparedEngine } from '../../engine.ts';
import { prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { createDatagrams } from '../../net/data-path.ts';
import type { Datagrams } from '../../net/datagram/datagrams.ts';
import { ClientLife } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { strainMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { clientTlsOptions } from '../../net/tls/tls-options.ts';
import type { Channel } from './channel.ts';
import { DohChannel } from './doh-channel.ts';
import { Lane } from './lane.ts';
import { Questions } from './questions.ts';
import { StreamChannel } from './stream-channel.ts';
import { openUdpChannel } from './udp-channel.ts';

type Context = EngineContext<DnsClientConfig>;

const mostQueries = 65_536;
const queriesAtOnce = 128;

interface ChannelDeps {
  readonly lane: Lane;
  readonly sources: SourcePool;
  readonly context: Context;
  readonly datagrams: Datagrams;
  readonly queryBytes: number;
}

/** Asks at the ordered load, over as many channels as ordered. */
class DnsClient implements PreparedEngine, Pausable, LoadChangeable {
  readonly #context: Context;
  readonly #config: DnsClientConfig;
  readonly #questions: Questions;
  readonly #sources: SourcePool;
  readonly #datagrams: Datagrams;
  readonly #lanes: readonly Lane[];
  readonly #driver: LoadDriver;
  readonly #life: ClientLife;

  constructor(context: Context, sources: SourcePool, targets: readonly Target[]) {
    const { config, duration, samples } = context;
    this.#context = context;
    this.#config = config;
    this.#sources = sources;
    const path = config.transport === 'udp' ? config.dataPath : 'node';
    this.#datagrams = createDatagrams({ path, note: context.note });
    const count = targets.length;
    const questions = new Questions(config);
    this.#questions = questions;
    this.#lanes = targets.map(
      ({ host, port }, lane) =>
        new Lane({
          samples: samples.target(`${host}:${port}`),
          config,
          questions,
          capacity: Math.min(mostQueries, Math.ceil(config.concurrency / count)),
          onFree: (place, now) => {
            this.#driver.offer(place * count + lane, now);
            this.#life.settle();
          },
        }),
    );
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(strainMetrics.scheduleLag),
      load: config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      createAlarm: this.#datagrams.createAlarm,
      begin: (place, intended, now) => {
        (this.#lanes[place % count] as Lane).ask(Math.floor(place / count), intended, now);
      },
    });
    const isIdle = () => this.#lanes.every((lane) => lane.pending === 0);
    this.#life = new ClientLife({
      engine: 'dns',
      samples,
      signal: context.signal,
      drivers: [this.#driver],
      sweepMs: Math.min(50, Math.max(5, config.timeoutMs / 4)),
      drainMs: Math.min(config.timeoutMs * (config.retries + 1), 3000),
      sweep: (now) => {
        for (const lane of this.#lanes) lane.sweep(now);
      },
      isDone: () => this.#driver.isExhausted && isIdle(),
      isIdle,
      retire: () => {},
    });
  }

  async open(targets: readonly Target[]): Promise<void> {
    for (const [index, lane] of this.#lanes.entries()) {
      lane.channel = await channelFor(targets[index] as Target, index, {
        lane,
        sources: this.#sources,
        context: this.#context,
        datagrams: this.#datagrams,
        queryBytes: this.#questions.mostBytes,
      });
    }
  }

  start(): Promise<void> {
    return this.#life.run(() => {
      const most = Math.min(this.#config.concurrency, mostQueries * this.#lanes.length);
      for (let place = 0; place < most; place++) this.#driver.offer(place, performance.now());
      this.#driver.start();
    });
  }

  pause(): void {
    this.#life.pause();
  }

  resume(): void {
    this.#life.resume();
  }

  changeLoad({ requestsPerSecond }: LoadChange): { readonly rejected?: string } {
    if (requestsPerSecond === undefined) return { rejected: 'dns has a rate of requests only' };
    return this.#driver.changeRate(requestsPerSecond) ? {} : { rejected: 'this run has no rate of requests' };
  }

  async close(): Promise<void> {
    this.#life.close();
    for (const lane of this.#lanes) lane.channel?.close();
    await this.#datagrams.close();
    await this.#sources.close();
  }
}

const channelFor = async (target: Target, index: number, deps: ChannelDeps): Promise<Channel> => {
  const { lane, sources, context, datagrams, queryBytes } = deps;
  const { config } = context;
  const route = () => ({ address: context.addressOf(target.host), port: target.port, ...sources.next(index) });
  if (config.transport === 'udp') {
    const leaving = { count: queriesAtOnce, bytes: queryBytes };
    return openUdpChannel(datagrams, route(), { leaving, events: lane });
  }
  if (config.transport === 'tcp') return new StreamChannel(route, undefined, lane);
  if (config.transport === 'dot') return new StreamChannel(route, clientTlsOptions(config.tls), lane);
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
  return new DohChannel(route, clientTlsOptions(config.tls, ['h2']), { authority, path: config.path }, lane);
};

export const prepareDnsClient = async (context: Context): Promise<PreparedEngine & Pausable & LoadChangeable> => {
  const { config } = context;
  const sources = await prepareSources(config.sources, context);
  const choose = chooserOf(config.targets, config.rotation);
  const targets = Array.from({ length: Math.min(config.sockets, config.concurrency) }, (_, index) => choose(index));
  const client = new DnsClient(context, sources, targets);
  try {
    await client.open(targets);
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
};
