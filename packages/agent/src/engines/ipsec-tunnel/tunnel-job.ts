import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressRange, IpsecTunnelClientConfig, IpsecTunnelConfig } from '@rushhour/protocol';
import { HostGroup } from '@rushhour/wire';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { SourceUse } from '../../net/addresses/source-addresses.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import { endsChooser } from '../../net/ipsec/choose-ends.ts';
import type { Alarm } from '../../net/loop/alarm.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import type { IpsecTunnelsConfig } from '../../stack/ipsec/ipsec-sessions.ts';
import { IpsecTunnels } from '../../stack/ipsec/ipsec-tunnels.ts';
import { reportKeys } from '../../stack/ipsec/key-report.ts';
import { InsideHosts } from './inside-hosts.ts';
import { SaTable } from './sa-table.ts';
import { TunnelEvents } from './tunnel-events.ts';
import { TunnelMeters } from './tunnel-meters.ts';
import { TunnelProbes } from './tunnel-probes.ts';

const tickMs = 2;
const reportMs = 500;
const probeMs = 1000;
/** At the end tunnels that have been opened for longer than this without being up count as timed out. */
const lastWaitMs = 3000;
/** Time for the last deletions to reach the peers. */
const closeGraceMs = 300;

type Context = EngineContext<IpsecTunnelConfig>;

/** The outer ends of the tunnels of a client. */
const endsOf = (context: Context, config: IpsecTunnelClientConfig, { addresses }: HostNetwork) => {
  const chooseEnds = endsChooser({
    ...config,
    addresses: addresses.slice(0, config.sourceCount),
    peers: config.targets.map(({ host, weight }) => ({ host: context.addressOf(host), weight })),
  });
  const ends = Array.from({ length: config.tunnels }, (_, tunnel) => chooseEnds(tunnel));
  const use = new SourceUse(addresses.length);
  for (const { local } of ends) use.take(local);
  use.report(context.note);
  return ends;
};

/** A server answers at its addresses; manually keyed tunnels appear with their first packet. */
const tunnelsConfigOf = (context: Context, network: HostNetwork): IpsecTunnelsConfig => {
  const { config, duration } = context;
  const ipsec = config.settings;
  if (config.role === 'client') {
    const rampUpMs = duration.rampUpSec * 1000;
    return { isServer: false, ipsec, ends: endsOf(context, config, network), rampUpMs };
  }
  const isManual = ipsec.authMethod === 'manual';
  const ends = isManual ? [] : network.addresses.map((local) => ({ local, remote: local }));
  return { isServer: true, ipsec, ends, manualCount: config.tunnels };
};

const versionOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

/** Opens tunnels, or answers those of others, and keeps them until the end of the job. */
export class TunnelJob implements PreparedEngine {
  readonly #context: Context;
  readonly #network: HostNetwork;
  readonly #tunnels: IpsecTunnels;
  readonly #meters: TunnelMeters;
  readonly #table = new SaTable();
  readonly #events: TunnelEvents;
  readonly #inner: HostGroup | undefined;
  readonly #probes: TunnelProbes | undefined;
  readonly #alarm: Alarm;
  readonly #done = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #probeAt = 0;
  #isClosed = false;

  constructor(context: Context, network: HostNetwork) {
    this.#context = context;
    this.#network = network;
    const { config, samples } = context;
    const { layers, addresses } = network;
    const outerVersion = versionOf(addresses[0] ?? '');
    const { inside, settings, role } = config;
    const version = versionOf((inside?.client ?? settings.localRange ?? { start: addresses[0] ?? '' }).start);
    const hosts = { version: outerVersion, indexOf: (words: Int32Array) => layers.hostOf(words) };
    this.#meters = new TunnelMeters(samples);
    this.#events = new TunnelEvents(context.progress);
    this.#tunnels = new IpsecTunnels(tunnelsConfigOf(context, network), layers.group, hosts, version);
    this.#observe();
    reportKeys(this.#tunnels, context);
    if (inside !== undefined) {
      const isClient = role === 'client';
      const own = isClient ? clientHosts(config, inside.client) : new InsideHosts(inside.server);
      this.#inner = this.#createInner(own);
      if (isClient) this.#probes = new TunnelProbes(this.#inner, own, new InsideHosts(inside.server));
    }
    this.#alarm = kernelEventLoop.createAlarm(() => this.#tick());
  }

  async start(): Promise<void> {
    const { signal } = this.#context;
    this.#timer = setInterval(() => this.#report(), reportMs);
    signal.addEventListener('abort', () => this.#done.resolve(), { once: true });
    if (signal.aborted) this.#done.resolve();
    else this.#tick();
    await this.#done.promise;
    this.#tunnels.giveUp(lastWaitMs);
    this.#report();
    this.#isClosed = true;
    this.#alarm.cancel();
    this.#tunnels.close();
    this.#network.layers.scheduleFlush();
    await sleep(closeGraceMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#alarm.cancel();
    clearInterval(this.#timer);
    this.#done.resolve();
  }

  #observe(): void {
    const { monitor } = this.#tunnels;
    monitor.onEvent = (sa, text) => {
      if (!this.#isClosed) this.#events.add(sa, text);
    };
    monitor.onSetup = (durationMs) => this.#meters.setup.record(durationMs * 1000);
    monitor.onChildUp = (link, child) => this.#table.onChildUp(link, child, performance.now());
    // Tunnels of a client with manual keys are up from the beginning.
    for (const { child, link } of this.#tunnels.children) this.#table.onChildUp(link, child, performance.now());
    monitor.onChildDown = (link, child) => {
      if (!this.#isClosed) this.#table.onChildDown(link, child);
    };
    monitor.onFailed = (cause, link) => {
      this.#meters.onFailed(cause);
      if (link !== undefined) this.#table.onFailed(link, cause);
    };
  }

  #createInner(hosts: InsideHosts): HostGroup {
    const nowUs = Math.floor(performance.now() * 1000);
    const inner = new HostGroup({ sink: this.#tunnels, hosts, nowUs, random: Math.random, hasEthernet: false });
    this.#tunnels.inner = inner;
    return inner;
  }

  #tick(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    this.#tunnels.advance(now);
    this.#inner?.advance(Math.floor(now * 1000));
    if (this.#tunnels.takeRefusal()) this.#inner?.unblock();
    this.#network.layers.scheduleFlush();
    if (this.#isOpened()) this.#done.resolve();
    this.#alarm.set(now + tickMs);
  }

  /** A job of a number of tunnels ends when they have been opened. */
  #isOpened(): boolean {
    const { duration, config } = this.#context;
    if (duration.mode !== 'count' || config.role !== 'client') return false;
    return this.#tunnels.monitor.counters.opened >= Math.min(duration.count, config.tunnels);
  }

  #report(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    this.#meters.report(this.#tunnels, this.#probes);
    this.#events.report();
    for (const row of this.#table.take(now)) this.#context.putRow('sas', row);
    if (now < this.#probeAt) return;
    this.#probeAt = now + probeMs - reportMs / 2;
    this.#probes?.send();
  }
}

/** Tunnel i of all clients carries host i of the range. */
const clientHosts = ({ settings, tunnels }: IpsecTunnelConfig, range: AddressRange): InsideHosts =>
  new InsideHosts(range, { offset: settings.firstIndex, max: tunnels });
