import type { IpsecLoadClientConfig } from '@rushhour/protocol';
import { type IkeCause, type IkeRoute, type IkeSa, parseAddress } from '@rushhour/wire';
import type { EngineContext, LoadChange } from '../../engine.ts';
import { SourceUse } from '../../net/addresses/source-addresses.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import { endsChooser } from '../../net/ipsec/choose-ends.ts';
import { ikePort } from '../../net/ipsec/ike-udp.ts';
import { addressBytes } from '../../net/ipsec/ipsec-peer.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { createKeyReport } from '../../stack/ipsec/key-report.ts';
import { changeRate, LoadDrivenClient } from '../load-driven-client.ts';
import { LoadMeters } from './load-meters.ts';
import { LoadSessions } from './load-sessions.ts';

type Context = EngineContext<IpsecLoadClientConfig>;

const sweepMs = 50;
const drainMs = 3000;
const failurePauseMs = 100;
/** Sessions that stay up; the oldest is closed for a further one. */
const maxSessions = 100_000;

/** A session and the handshake that opens it. */
interface Session {
  readonly route: IkeRoute;
  slot: number;
  intended: number;
  establishedMs: number;
}

/** Opens IKE sessions at the configured load and keeps them. */
export class LoadClient extends LoadDrivenClient {
  readonly #context: Context;
  readonly #meters: LoadMeters;
  readonly #sessions: LoadSessions;
  readonly #driver: LoadDriver;
  readonly #nextRoute: (slot: number) => IkeRoute;
  readonly #use: SourceUse;
  /** Sessions that are up, oldest first. */
  readonly #order = new Set<IkeSa>();
  /** Sessions that were closed to be opened again. */
  readonly #recycled: Session[] = [];
  #active = 0;
  #keepalives = 0;
  #keepaliveMs = 0;
  #nextKept = 0;

  constructor(context: Context, network: HostNetwork) {
    super();
    this.#context = context;
    const { config, duration, samples, signal } = context;
    this.#meters = new LoadMeters(samples);
    this.#use = new SourceUse(network.addresses.length);
    this.#nextRoute = routesOf(context, network, this.#use);
    this.#sessions = new LoadSessions({
      settings: config.settings,
      network,
      keys: createKeyReport(context),
      meters: this.#meters,
      onEstablished: (sa) => this.#onEstablished(sa),
      onClosed: (sa, cause) => this.#onClosed(sa, cause),
      onTick: (nowMs) => this.#keepAlive(nowMs),
    });
    this.#driver = new LoadDriver({
      duration,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      sessionWait: samples.histogram(generatorLoadMetrics.sessionWait),
      load: config.load,
      limit: duration.mode === 'count' ? duration.count : Number.POSITIVE_INFINITY,
      createAlarm: (ring) => kernelEventLoop.createAlarm(ring),
      begin: (slot, intended) => this.#begin(slot, intended),
    });
    this.lifecycle = new ClientLifecycle({
      engine: 'ipsec-load',
      samples,
      signal,
      drivers: [this.#driver],
      sweepMs,
      drainMs,
      sweep: (now) => this.#sweep(now),
      isDone: () => this.#driver.isExhausted && this.#active === 0,
      isIdle: () => this.#active === 0,
      retire: () => {},
    });
  }

  start(): Promise<void> {
    return this.lifecycle.run(() => {
      this.#sessions.start();
      const now = performance.now();
      for (let slot = 0; slot < this.#context.config.concurrentHandshakes; slot++) this.#driver.offer(slot, now);
      this.#driver.start();
    });
  }

  changeLoad(change: LoadChange) {
    const driver = this.#driver;
    return changeRate(change, { engine: 'ipsec-load', member: 'sessionsPerSecond', noun: 'handshakes', driver });
  }

  protected override async release(): Promise<void> {
    this.#use.report(this.#context.note);
    this.#sessions.giveUp();
    this.#sessions.close();
  }

  /** A session that is due to be opened again comes first. */
  #begin(slot: number, intended: number): void {
    const again = this.#recycled.shift();
    const session: Session = again ?? { route: this.#nextRoute(slot), slot, intended, establishedMs: 0 };
    session.slot = slot;
    session.intended = intended;
    session.establishedMs = 0;
    if (again !== undefined) this.#meters.recycled.add(1);
    this.#meters.started.add(1);
    this.#active++;
    this.#sessions.open(session.route, session);
  }

  #onEstablished(sa: IkeSa): void {
    const session = sa.context as Session;
    const now = this.#sessions.now();
    session.establishedMs = now;
    this.#order.add(sa);
    this.#meters.completed.add(1);
    this.#meters.handshake.record((now - session.intended) * 1000);
    const [oldest] = this.#order;
    if (this.#order.size > maxSessions && oldest !== undefined) this.#sessions.endpoint.close(oldest);
    this.#settle(session, true);
  }

  #onClosed(sa: IkeSa, cause: IkeCause): void {
    this.#order.delete(sa);
    const session = sa.context as Session;
    if (session.establishedMs > 0) {
      if (cause === 'deadPeer') this.#meters.onError(cause);
      return;
    }
    this.#meters.onFailed(cause);
    // Handshakes that time out count with the time they waited.
    if (cause === 'timeout') this.#meters.handshake.record((this.#sessions.now() - session.intended) * 1000);
    this.#settle(session, false);
  }

  #settle({ slot }: Session, isOk: boolean): void {
    this.#active--;
    this.lifecycle.settle();
    if (this.lifecycle.isEnding || this.#driver.isExhausted) return;
    const offer = () => this.#driver.offer(slot, performance.now());
    if (isOk || this.#driver.isPaced) offer();
    else this.lifecycle.schedule(failurePauseMs, offer);
  }

  #sweep(now: number): void {
    this.#meters.halfOpen.set(this.#active);
    const { recycleAfterMs } = this.#context.config;
    if (recycleAfterMs === 0 || this.lifecycle.isEnding) return;
    for (const sa of this.#order) {
      const session = sa.context as Session;
      if (now - session.establishedMs < recycleAfterMs) break;
      this.#order.delete(sa);
      this.#recycled.push({ ...session });
      this.#sessions.endpoint.close(sa);
    }
  }

  /** Dead-peer checks at a rate, of one session after the other. */
  #keepAlive(nowMs: number): void {
    const { keepalivesPerSecond } = this.#context.config;
    const { established } = this.#sessions;
    if (this.#keepaliveMs === 0) this.#keepaliveMs = nowMs;
    const due = ((nowMs - this.#keepaliveMs) * keepalivesPerSecond) / 1000;
    // A late tick does not ask one session several times at once.
    const count = Math.min(Math.floor(due - this.#keepalives), established.length);
    this.#keepalives = Math.floor(due);
    for (let i = 0; i < count; i++) {
      this.#nextKept = (this.#nextKept + 1) % established.length;
      this.#sessions.check(established[this.#nextKept] as IkeSa);
    }
  }
}

/** Addresses that are read once. */
const maxKnownEnds = 100_000;

/** Routes of handshakes, each with a peer and one of the first hosts. */
const routesOf = (
  context: Context,
  { addresses, layers }: HostNetwork,
  use: SourceUse,
): ((slot: number) => IkeRoute) => {
  const { config } = context;
  const chooseEnds = endsChooser({
    ...config,
    addresses: addresses.slice(0, config.sourceCount),
    peers: config.targets.map(({ host, weight }) => ({ host: context.addressOf(host), weight })),
  });
  const ends = new Map<string, { readonly bytes: Uint8Array; readonly host: number }>();
  const endOf = (address: string) => {
    const known = ends.get(address);
    if (known !== undefined) return known;
    const words = parseAddress(address);
    const end = { bytes: addressBytes(words), host: layers.hostOf(words) };
    if (ends.size < maxKnownEnds) ends.set(address, end);
    return end;
  };
  return (slot) => {
    const { local, remote } = chooseEnds(slot);
    use.take(local);
    const [source, target] = [endOf(local), endOf(remote)];
    return {
      localAddress: source.bytes,
      localPort: ikePort.plain,
      remoteAddress: target.bytes,
      remotePort: ikePort.plain,
      isEncapsulated: false,
      path: source.host,
    };
  };
};
