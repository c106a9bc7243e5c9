import type { DnsClientConfig, Target } from '@rushhour/protocol';
import type { EngineContext, LoadChange } from '../../engine.ts';
import { noteUnusedSources, prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { createDatagramTransport, createStreamTransport } from '../../net/data-path.ts';
import type { DatagramTransport } from '../../net/datagram/datagram-transport.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { QuicClient } from '../../net/quic/quic-client.ts';
import { isWatched, packetMeters } from '../../net/quic/quic-meters.ts';
import { createQuicPath } from '../../net/quic/quic-path.ts';
import { createSecureClient, tlsObserver } from '../../net/secure-path.ts';
import type { Transport } from '../../net/transport/transport.ts';
import { changeRate, LoadDrivenClient } from '../load-driven-client.ts';
import { DohTransport } from './doh-transport.ts';
import { DoqTransport } from './doq-transport.ts';
import type { MessageTransport } from './message-transport.ts';
import { openUdpTransport } from './message-transport.ts';
import { QueryChannel } from './query-channel.ts';
import { Questions } from './questions.ts';
import { StreamTransport } from './stream-transport.ts';

type Context = EngineContext<DnsClientConfig>;

const maxDrainMs = 3000;
const maxQueries = 65_536;
const queriesAtOnce = 128;

interface TransportDeps {
  readonly channel: QueryChannel;
  readonly sources: SourcePool;
  readonly context: Context;
  readonly datagrams: DatagramTransport;
  readonly queryBytes: number;
  /** TCP or TLS, unless queries are sent over UDP. */
  readonly streams: Transport | undefined;
  readonly quic: QuicClient | undefined;
}

const streamOptions = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: true } as const;

const createStreams = (context: Context): Transport | undefined => {
  const { config, note, hostNetwork } = context;
  const path = { path: config.dataPath, note, hostNetwork };
  if (config.transport === 'tcp') return createStreamTransport(path, streamOptions);
  if (config.transport === 'udp' || config.transport === 'doq') return undefined;
  const { tls } = config;
  const alpn = config.transport === 'doh' ? ['h2'] : tls.alpn;
  return createSecureClient(tls, { ...path, alpn, ...tlsObserver(context, 'dns') }, streamOptions);
};

const createQuic = (context: Context): QuicClient | undefined => {
  const { config } = context;
  if (config.transport !== 'doq') return undefined;
  return createQuicPath(context).createClient(config.tls, ['doq'], tlsObserver(context, 'dns'));
};

/** Sends queries at the configured load over the configured number of channels. */
class DnsClient extends LoadDrivenClient {
  readonly #context: Context;
  readonly #config: DnsClientConfig;
  readonly #questions: Questions;
  readonly #sources: SourcePool;
  readonly #datagrams: DatagramTransport;
  readonly #streams: Transport | undefined;
  readonly #quic: QuicClient | undefined;
  readonly #channels: readonly QueryChannel[];
  readonly #driver: LoadDriver;

  constructor(context: Context, sources: SourcePool, targets: readonly Target[]) {
    super();
    const { config, duration, samples, note } = context;
    this.#context = context;
    this.#config = config;
    this.#sources = sources;
    const path = config.transport === 'udp' ? config.dataPath : 'node';
    this.#datagrams = createDatagramTransport({ path, note, hostNetwork: context.hostNetwork });
    this.#streams = createStreams(context);
    this.#quic = createQuic(context);
    const count = targets.length;
    this.#questions = new Questions(config);
    this.#channels = targets.map(
      ({ host, port }, channel) =>
        new QueryChannel({
          samples: samples.target(`${host}:${port}`),
          config,
          questions: this.#questions,
          capacity: Math.min(maxQueries, Math.ceil(config.concurrency / count)),
          onFree: (slot, now) => {
            this.#driver.offer(slot * count + channel, now);
            this.lifecycle.settle();
          },
        }),
    );
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      sessionWait: samples.histogram(generatorLoadMetrics.sessionWait),
      load: config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      createAlarm: (this.#quic ?? this.#streams ?? this.#datagrams).createAlarm,
      begin: (slot, intended, now) => {
        (this.#channels[slot % count] as QueryChannel).ask(Math.floor(slot / count), intended, now);
      },
    });
    this.lifecycle = this.#createLifecycle();
  }

  async open(targets: readonly Target[]): Promise<void> {
    for (const [index, channel] of this.#channels.entries()) {
      channel.transport = await transportFor(targets[index] as Target, index, {
        channel,
        sources: this.#sources,
        context: this.#context,
        datagrams: this.#datagrams,
        queryBytes: this.#questions.maxBytes,
        streams: this.#streams,
        quic: this.#quic,
      });
    }
  }

  start(): Promise<void> {
    return this.lifecycle.run(() => {
      const max = Math.min(this.#config.concurrency, maxQueries * this.#channels.length);
      for (let slot = 0; slot < max; slot++) this.#driver.offer(slot, performance.now());
      this.#driver.start();
    });
  }

  changeLoad(change: LoadChange) {
    return changeRate(change, { engine: 'dns', member: 'requestsPerSecond', noun: 'requests', driver: this.#driver });
  }

  protected override async release(): Promise<void> {
    const now = performance.now();
    for (const channel of this.#channels) {
      channel.abandon(now);
      channel.transport?.close();
    }
    await this.#datagrams.close();
    await this.#streams?.close();
    await this.#quic?.close();
    await this.#sources.close();
  }

  #createLifecycle(): ClientLifecycle {
    const { config, samples, signal } = this.#context;
    const sweepMs = Math.min(50, Math.max(5, config.timeoutMs / 4));
    const isIdle = () => this.#channels.every((channel) => channel.pending === 0);
    return new ClientLifecycle({
      engine: 'dns',
      samples,
      signal,
      drivers: [this.#driver],
      sweepMs,
      // The last query times out, too, and is found at the next sweep.
      drainMs: Math.min((config.timeoutMs + 2 * sweepMs) * (config.retries + 1), maxDrainMs),
      sweep: (now) => {
        for (const channel of this.#channels) channel.sweep(now);
      },
      isDone: () => (this.#driver.isExhausted || this.#questions.isSpent) && isIdle(),
      isIdle,
      retire: () => {},
    });
  }
}

const transportFor = async (target: Target, index: number, deps: TransportDeps): Promise<MessageTransport> => {
  const { channel, sources, context, datagrams, queryBytes, streams, quic } = deps;
  const { config } = context;
  const route = () => ({ address: context.addressOf(target.host), port: target.port, ...sources.next(index) });
  if (quic !== undefined) {
    const packets = isWatched(index) ? packetMeters(context.samples, 'dns') : undefined;
    return new DoqTransport(route, { quic, events: channel, packets });
  }
  if (streams === undefined) {
    const sendBatch = { count: queriesAtOnce, bytes: queryBytes };
    return openUdpTransport(datagrams, route(), { sendBatch, events: channel });
  }
  if (config.transport !== 'doh') return new StreamTransport(route, streams, channel);
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
  return new DohTransport(route, streams, { authority, path: config.path }, channel);
};

export const prepareDnsClient = async (context: Context): Promise<LoadDrivenClient> => {
  const { config } = context;
  const sources = await prepareSources(config.sources, { ...context, reportsUse: false });
  const choose = chooserOf(config.targets, config.rotation);
  const targets = Array.from({ length: Math.min(config.sockets, config.concurrency) }, (_, index) => choose(index));
  noteUnusedSources(context.note, { available: sources.count, used: targets.length, per: 'socket' });
  const client = new DnsClient(context, sources, targets);
  try {
    await client.open(targets);
  } catch (error) {
    await client.close();
    throw error;
  }
  return client;
};
