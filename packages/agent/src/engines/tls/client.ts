import type { TlsClientConfig } from '@rushhour/protocol';
import type { EngineContext, LoadChange, Samples } from '../../engine.ts';
import { prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { chooserOf } from '../../net/load/rotation.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { createSecureClient, tlsObserver } from '../../net/secure-path.ts';
import type { HandshakeFacts, Transport } from '../../net/transport/transport.ts';
import { changeRate, LoadDrivenClient } from '../load-driven-client.ts';
import { Handshake } from './handshake.ts';

type Context = EngineContext<TlsClientConfig>;

const failurePauseMs = 100;
const drainMs = 2000;

const metersOf = (samples: Samples) => ({
  samples,
  attempted: samples.counter('tls.attempted'),
  full: samples.counter('tls.full'),
  resumed: samples.counter('tls.resumed'),
  failed: samples.counter('tls.failed'),
  connect: samples.histogram('tls.connect'),
  handshake: samples.histogram('tls.handshake'),
  /** From the time the connection was due. */
  latency: samples.histogram('tls.latency'),
});

/** A target. */
interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly weight: number;
  readonly meters: ReturnType<typeof metersOf>;
  /** Connections offer the session of an earlier one. */
  hasTicket: boolean;
}

const createTransport = (context: Context): Transport => {
  const { config, note, hostNetwork } = context;
  return createSecureClient(
    config.tls,
    { path: config.dataPath, note, hostNetwork, alpn: config.tls.alpn, ...tlsObserver(context, 'tls') },
    { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false },
  );
};

/** Performs TLS handshakes at the configured load. */
class TlsClient extends LoadDrivenClient {
  readonly #context: Context;
  readonly #config: TlsClientConfig;
  readonly #sources: SourcePool;
  readonly #transport: Transport;
  readonly #choose;
  readonly #active = new Map<number, Handshake>();
  readonly #driver: LoadDriver;

  constructor(context: Context, sources: SourcePool) {
    super();
    const { config, duration, samples } = context;
    this.#context = context;
    this.#config = config;
    this.#sources = sources;
    this.#transport = createTransport(context);
    const endpoints: Endpoint[] = config.targets.map((target) => ({
      port: target.port,
      weight: target.weight,
      address: context.addressOf(target.host),
      meters: metersOf(samples.target(`${target.host}:${target.port}`)),
      hasTicket: false,
    }));
    this.#choose = chooserOf(endpoints, config.rotation);
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      sessionWait: samples.histogram(generatorLoadMetrics.sessionWait),
      load: config.load,
      createAlarm: this.#transport.createAlarm,
      limit: config.totalSessions ?? (duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY),
      begin: (slot, intended) => this.#begin(slot, intended),
    });
    this.lifecycle = this.#createLife();
  }

  start(): Promise<void> {
    return this.lifecycle.run(() => {
      for (let slot = 0; slot < this.#config.connections; slot++) this.#driver.offer(slot, performance.now());
      this.#driver.start();
    });
  }

  changeLoad(change: LoadChange) {
    return changeRate(change, { engine: 'tls', member: 'sessionsPerSecond', noun: 'sessions', driver: this.#driver });
  }

  protected override async release(): Promise<void> {
    for (const handshake of this.#active.values()) handshake.timeOut();
    await this.#transport.close();
    await this.#sources.close();
  }

  #begin(slot: number, intended: number): void {
    const endpoint = this.#choose(slot);
    const { meters, hasTicket } = endpoint;
    const { tls, closeNotify } = this.#config;
    meters.attempted.add(1);
    let connectedAt = performance.now();
    const route = { address: endpoint.address, port: endpoint.port, ...this.#sources.next(slot) };
    const handshake = new Handshake(
      { wantsTicket: tls.resumption !== 'none' && !hasTicket, closeNotify },
      {
        onConnect: (now) => {
          connectedAt = now;
          meters.connect.record((now - handshake.startedAt) * 1000);
        },
        onSecure: (facts, now) => this.#onSecure(endpoint, facts, { intended, connectedAt, now, hadTicket: hasTicket }),
        onTicket: () => {
          endpoint.hasTicket = true;
        },
        onEnd: (code) => {
          // Handshakes that time out count with the time they waited.
          if (code === 'timeout') meters.latency.record((performance.now() - intended) * 1000);
          this.#onEnd(slot, endpoint, code);
        },
      },
    );
    this.#active.set(slot, handshake);
    handshake.start(this.#transport, route);
  }

  #onSecure(
    endpoint: Endpoint,
    facts: HandshakeFacts,
    times: { intended: number; connectedAt: number; now: number; hadTicket: boolean },
  ): void {
    const { meters } = endpoint;
    if (facts.isResumed) meters.resumed.add(1);
    else {
      meters.full.add(1);
      // The server did not accept the ticket.
      if (times.hadTicket) endpoint.hasTicket = false;
    }
    meters.samples.counter(`tls.version.${facts.version}`).add(1);
    meters.samples.counter(`tls.cipher.${facts.cipher}`).add(1);
    if (facts.group !== undefined) meters.samples.counter(`tls.group.${facts.group}`).add(1);
    meters.handshake.record((times.now - times.connectedAt) * 1000);
    meters.latency.record((times.now - times.intended) * 1000);
  }

  #onEnd(slot: number, endpoint: Endpoint, code: string | undefined): void {
    this.#active.delete(slot);
    if (code !== undefined) {
      endpoint.meters.failed.add(1);
      countError(endpoint.meters.samples, 'tls', code);
    }
    this.lifecycle.settle();
    if (this.lifecycle.isEnding || this.#driver.isExhausted) return;
    if (code === undefined || this.#driver.isPaced) this.#driver.offer(slot, performance.now());
    else this.lifecycle.schedule(failurePauseMs, () => this.#driver.offer(slot, performance.now()));
  }

  #createLife(): ClientLifecycle {
    const { samples, signal } = this.#context;
    const active = samples.gauge('tls.active');
    return new ClientLifecycle({
      engine: 'tls',
      samples,
      signal,
      drivers: [this.#driver],
      sweepMs: 100,
      drainMs,
      sweep: (now) => {
        active.set(this.#active.size);
        for (const handshake of this.#active.values()) {
          if (!handshake.isSecure && now - handshake.startedAt > this.#config.timeoutMs) handshake.timeOut();
        }
      },
      isDone: () => this.#driver.isExhausted && this.#active.size === 0,
      isIdle: () => this.#active.size === 0,
      retire: () => {},
    });
  }
}

export const prepareTlsClient = async (context: Context): Promise<LoadDrivenClient> =>
  new TlsClient(context, await prepareSources(context.config.sources, context));
