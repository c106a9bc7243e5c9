import type { DnsClientConfig, Target } from '@rushhour/protocol';
import type { EngineContext, LoadChange, LoadChangeable, Pausable, Run } from '../../engine.ts';
import { ClientLife } from '../../net/client-life.ts';
import { LoadDriver } from '../../net/load-driver.ts';
import { chooserOf } from '../../net/rotation.ts';
import { prepareSources, type SourcePool } from '../../net/source-addresses.ts';
import { strainMetrics } from '../../net/strain-metrics.ts';
import { clientTlsOptions } from '../../net/tls-options.ts';
import type { Channel } from './channel.ts';
import { DohChannel } from './doh-channel.ts';
import { Lane } from './lane.ts';
import { Questions } from './questions.ts';
import { StreamChannel } from './stream-channel.ts';
import { openUdpChannel } from './udp-channel.ts';

type Context = EngineContext<DnsClientConfig>;

/** Asks at the ordered load, over as many channels as ordered. */
class DnsClient implements Run, Pausable, LoadChangeable {
  readonly #config: DnsClientConfig;
  readonly #sources: SourcePool;
  readonly #lanes: readonly Lane[];
  readonly #driver: LoadDriver;
  readonly #life: ClientLife;

  constructor(
    context: Context,
    sources: SourcePool,
    lanes: (onFree: (place: number, now: number) => void) => readonly Lane[],
  ) {
    const { config, duration, samples } = context;
    this.#config = config;
    this.#sources = sources;
    this.#lanes = lanes((place, now) => {
      this.#driver.offer(place, now);
      this.#life.settle();
    });
    const questions = new Questions(config);
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(strainMetrics.scheduleLag),
      load: config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      begin: (place, intended, now) => {
        const lane = this.#lanes[place % this.#lanes.length] as Lane;
        lane.ask(place, questions, { intended, now });
      },
    });
    const isIdle = () => this.#lanes.every((lane) => lane.pending.size === 0);
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

  start(): Promise<void> {
    return this.#life.run(() => {
      for (let place = 0; place < this.#config.concurrency; place++) this.#driver.offer(place, performance.now());
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
    await this.#sources.close();
  }
}

const channelFor = async (
  context: Context,
  target: Target,
  index: number,
  deps: { lane: Lane; sources: SourcePool },
): Promise<Channel> => {
  const { config } = context;
  const { lane, sources } = deps;
  const route = () => ({ address: context.addressOf(target.host), port: target.port, ...sources.next(index) });
  if (config.transport === 'udp') return openUdpChannel(route(), lane);
  if (config.transport === 'tcp') return new StreamChannel(route, undefined, lane);
  if (config.transport === 'dot') return new StreamChannel(route, clientTlsOptions(config.tls), lane);
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
  return new DohChannel(route, clientTlsOptions(config.tls, ['h2']), { authority, path: config.path }, lane);
};

export const prepareDnsClient = async (context: Context): Promise<Run & Pausable & LoadChangeable> => {
  const { config, samples } = context;
  const sources = await prepareSources(config.sources, context);
  const choose = chooserOf(config.targets, config.rotation);
  const targets = Array.from({ length: Math.min(config.sockets, config.concurrency) }, (_, index) => choose(index));
  let lanes: Lane[] = [];
  const client = new DnsClient(context, sources, (onFree) => {
    lanes = targets.map(({ host, port }) => new Lane(samples.target(`${host}:${port}`), config, onFree));
    return lanes;
  });
  try {
    for (const [index, lane] of lanes.entries()) {
      lane.channel = await channelFor(context, targets[index] as Target, index, { lane, sources });
    }
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
};
