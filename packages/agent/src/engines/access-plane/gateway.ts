import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessPlaneConfig } from '@rushhour/protocol';
import { AccessGateway, maxAdmitted, maxPeers, type SessionCause, sessionState } from '@rushhour/wire';
import { AccessEvents } from '../../access/access-events.ts';
import { AccessMeters } from '../../access/access-meters.ts';
import type { EntryPort } from '../../access/access-port.ts';
import { AncpServer } from '../../access/ancp-server.ts';
import { openEntryPorts } from '../../access/entry-ports.ts';
import { GatewayGroup, type GatewayLink } from '../../access/gateway-group.ts';
import { firstProfiles, type Profiles } from '../../access/options/access-profiles.ts';
import { gatewayOptionsOf } from '../../access/options/gateway-options.ts';
import { findRadius, RadiusLink } from '../../access/radius-link.ts';
import {
  admissionRow,
  ChangedRows,
  gatewayRow,
  lease6Row,
  leaseRow,
  portRow,
  tunnelledRow,
} from '../../access/session-rows.ts';
import { LagPort } from '../../access/switches/lag-port.ts';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { reportGroup, reportPorts } from './report-group.ts';

type PppoeServer = NonNullable<AccessGateway['pppoe']>;
type L2tpLns = NonNullable<AccessGateway['l2tp']>;
type IpoeGateway = NonNullable<AccessGateway['ipoe']>;

const reportMs = 1000;
const endGraceMs = 5000;

/** Ends that a subscriber has asked for. */
const orderlyEnds: ReadonlySet<SessionCause> = new Set([
  'stopped',
  'LCP: ended by the peer',
  'L2TP: call ended by the peer',
  'L2TP: tunnel ended by the peer',
]);

interface Reports {
  readonly meters: AccessMeters;
  readonly events: AccessEvents;
}

/** States of supplicants and clients that are events; the others lead to one of them. */
const eventStates: ReadonlySet<string> = new Set(['up', 'held', 'ended', 'authorized', 'refused']);

/** `first`: number of the first of these sessions in the table. */
const sessionEvents = ({ meters, events }: Reports, changed: ChangedRows, first: number) => ({
  onEstablished: (session: number, setupMs: number) => {
    changed.add(session);
    meters.onEstablished(session, setupMs);
  },
  onEnded: (session: number, cause: SessionCause, wasUp: boolean) => {
    changed.add(session);
    if (orderlyEnds.has(cause)) return;
    (wasUp ? meters.onFlap : meters.onFailed)(session, cause);
    events[wasUp ? 'onFlap' : 'onFailed'](first + session, cause);
  },
});

const tunnelEvents = (reports: Reports, changed: ChangedRows, first: number) => {
  const { onEstablished: onTunnelled, onEnded: onTunnelledEnd } = sessionEvents(reports, changed, first);
  return { onTunnelled, onTunnelledEnd };
};

/** Rows of an interface: those of sessions, then of leases, supplicants and clients of DHCP. */
const rowsOf = ({ pppoe, l2tp, dhcp, dhcpv6 }: Profiles) => {
  const sessions = (pppoe?.server.maxSessions ?? 0) + (l2tp?.server.maxSessions ?? 0);
  return sessions + (dhcp?.server.poolSize ?? 0) + (dhcpv6?.server.poolSize ?? 0) + maxPeers + maxAdmitted;
};

/** The gateway of one interface. */
class GatewayPort implements GatewayLink {
  /** The hosts behind the gateway. */
  group: GatewayGroup | undefined;
  readonly name: string;
  readonly gateway: AccessGateway;
  readonly #port: EntryPort;
  readonly #changed: ChangedRows;
  readonly #changedCalls: ChangedRows;
  readonly #changedLeases: ChangedRows;
  readonly #changedLeases6: ChangedRows;
  readonly #changedPeers: ChangedRows;
  readonly #changedClients: ChangedRows;
  readonly #first: number;
  readonly #poolSize: number;
  readonly #poolSize6: number;
  readonly #radius: RadiusLink | undefined;
  readonly #refused = new Set<number>();

  constructor(port: EntryPort, profiles: Profiles, first: number, reports: Reports) {
    const { meters } = reports;
    this.name = port.name;
    this.#port = port;
    this.#first = first;
    this.#poolSize = profiles.dhcp?.server.poolSize ?? 0;
    this.#poolSize6 = profiles.dhcpv6?.server.poolSize ?? 0;
    this.#changed = new ChangedRows(profiles.pppoe?.server.maxSessions ?? 0);
    this.#changedCalls = new ChangedRows(profiles.l2tp?.server.maxSessions ?? 0);
    this.#changedLeases = new ChangedRows(profiles.dhcp?.server.poolSize ?? 0);
    this.#changedLeases6 = new ChangedRows(profiles.dhcpv6?.server.poolSize ?? 0);
    this.#changedClients = new ChangedRows(profiles.dhcp?.server.decision === 'radius' ? maxAdmitted : 0);
    this.#changedPeers = new ChangedRows(profiles.dot1x === undefined ? 0 : maxPeers);
    const radius = findRadius(profiles);
    this.#radius = radius && new RadiusLink(radius);
    this.gateway = new AccessGateway({
      ...gatewayOptionsOf(profiles, port.name),
      radius: this.#radius?.options,
      sink: port.sink,
      random: Math.random,
      mac: port.mac,
      ...sessionEvents(reports, this.#changed, first),
      ...tunnelEvents(reports, this.#changedCalls, first + (profiles.pppoe?.server.maxSessions ?? 0)),
      onAdmission: ({ index, lastError }) => {
        // Rows of those that were never refused are their leases.
        if (lastError !== '') meters.onFailed(index, lastError);
        if (lastError !== '' || this.#refused.has(index)) this.#changedClients.add(index);
        if (lastError !== '') this.#refused.add(index);
      },
      onPort: (index) => this.#changedPeers.add(index),
      onLease: (lease) => this.#changedLeases.add(lease),
      onLease6: (lease) => this.#changedLeases6.add(lease),
    });
    this.#followPpp();
    if (this.#radius !== undefined)
      this.#radius.onMessage = (socket, bytes) => this.gateway.radius?.receive(socket, bytes);
    port.open({
      receive: (memory, start, end) => this.gateway.receive(memory, start, end),
      advance: (nowMs) => this.gateway.advance(nowMs),
      onIdle: () => this.group?.onIdle(),
      onRoom: () => this.group?.onRoom(),
    });
  }

  /** Addresses of sessions change while they are up, too. */
  #followPpp(): void {
    const { pppoe, l2tp } = this.gateway;
    const follow = (ppp: PppoeServer['ppp'] | undefined, changed: ChangedRows) => {
      if (ppp === undefined) return;
      ppp.onNetworks = (session) => changed.add(session);
      ppp.sessionIpv6.onLease = (session) => changed.add(session);
    };
    follow(pppoe?.ppp, this.#changed);
    follow(l2tp?.ppp, this.#changedCalls);
  }

  get isChecked(): boolean {
    return this.#port.isChecked;
  }

  poll(): void {
    this.#port.poll();
  }

  flush(): void {
    this.#port.flush();
  }

  /** It lets supplicants in and serves them nothing. */
  get #hasOnlyPorts(): boolean {
    const { ipoe, ipoe6, pppoe, l2tp } = this.gateway;
    return [ipoe, ipoe6, pppoe, l2tp].every((part) => part === undefined);
  }

  get established(): number {
    const { ipoe, ipoe6, pppoe, l2tp, dot1x } = this.gateway;
    if (this.#hasOnlyPorts) return dot1x?.countOf('authorized') ?? 0;
    const leases = Math.max(ipoe?.dhcp.active ?? 0, ipoe6?.dhcpv6?.active ?? 0);
    const [sessions = 0, tunnelled = 0] = [pppoe, l2tp].map((server) => server?.table.counts[sessionState.up]);
    return leases + sessions + tunnelled;
  }

  get #sessionCount(): number {
    const { pppoe, l2tp } = this.gateway;
    return (pppoe?.count ?? 0) + (l2tp?.count ?? 0);
  }

  get existing(): number {
    const { ipoe, ipoe6, dot1x } = this.gateway;
    if (this.#hasOnlyPorts) return dot1x?.peers.length ?? 0;
    return Math.max(ipoe?.dhcp.used ?? 0, ipoe6?.dhcpv6?.used ?? 0) + this.#sessionCount;
  }

  start(): void {
    if (this.#port instanceof LagPort) this.#port.start();
  }

  report(context: EngineContext<AccessPlaneConfig>, reports: Reports): void {
    const { pppoe, l2tp, ipoe, ipoe6 } = this.gateway;
    if (this.#port instanceof LagPort) reportGroup(this.#port, context, reports);
    const { name } = this;
    for (const session of pppoe === undefined ? [] : this.#changed.take())
      context.putRow('sessions', gatewayRow(pppoe as PppoeServer, { first: this.#first, interface: name, session }));
    const firstCall = this.#first + (pppoe?.table.count ?? 0);
    for (const session of l2tp === undefined ? [] : this.#changedCalls.take())
      context.putRow('sessions', tunnelledRow(l2tp as L2tpLns, { first: firstCall, interface: name, session }));
    const first = firstCall + (l2tp?.table.count ?? 0);
    for (const session of ipoe === undefined ? [] : this.#changedLeases.take())
      context.putRow('sessions', leaseRow((ipoe as IpoeGateway).dhcp, { first, interface: name, session }));
    const first6 = first + this.#poolSize;
    this.#reportPeers(context, first6 + this.#poolSize6, reports.events);
    this.#reportClients(context, first6 + this.#poolSize6 + maxPeers, reports.events);
    for (const session of this.#changedLeases6.take())
      if (ipoe6?.dhcpv6 !== undefined)
        context.putRow('sessions', lease6Row(ipoe6.dhcpv6, { first: first6, interface: name, session }));
  }

  #reportPeers(context: EngineContext<AccessPlaneConfig>, first: number, events: AccessEvents): void {
    const { dot1x } = this.gateway;
    for (const index of this.#changedPeers.take()) {
      const peer = dot1x?.peers[index];
      if (peer === undefined) continue;
      const row = portRow(peer, first, this.name);
      context.putRow('sessions', row);
      if (eventStates.has(row.state))
        events.follow(`${row.index}`, () => `session ${row.index} (${row.cells['mac']})`, row);
    }
  }

  #reportClients(context: EngineContext<AccessPlaneConfig>, first: number, events: AccessEvents): void {
    const clients = this.gateway.ipoe?.dhcp.admission?.clients ?? [];
    for (const index of this.#changedClients.take()) {
      const client = clients[index];
      if (client === undefined) continue;
      const row = admissionRow(client, first, this.name);
      context.putRow('sessions', row);
      events.follow(`${row.index}`, () => `session ${row.index} (${row.cells['mac']})`, row);
    }
  }

  end(): void {
    this.gateway.pppoe?.closeAll();
    this.gateway.l2tp?.closeAll();
    this.gateway.ipoe?.dhcp.admission?.endAll();
    this.gateway.dot1x?.endAll();
    this.#port.flush();
  }

  /** Sessions and their accounts are closed. */
  get isOver(): boolean {
    const { l2tp, radius } = this.gateway;
    return this.#sessionCount === 0 && (l2tp?.tunnels.isQuiet ?? true) && (radius?.pending ?? 0) === 0;
  }

  close(): void {
    this.#radius?.close();
    this.#port.close();
  }
}

/** The gateway of an entry, on all its interfaces. */
class GatewayRun implements PreparedEngine {
  readonly #context: EngineContext<AccessPlaneConfig>;
  readonly #meters: AccessMeters;
  readonly #events: AccessEvents;
  readonly #ports: GatewayPort[] = [];
  readonly #nodes: AncpServer | undefined;
  #reportedMs = performance.now();

  constructor(context: EngineContext<AccessPlaneConfig>) {
    const { config, samples, host } = context;
    const profiles = firstProfiles(config.profiles);
    this.#context = context;
    this.#meters = new AccessMeters(samples);
    this.#events = new AccessEvents(context.progress);
    const reports = { meters: this.#meters, events: this.#events };
    const ports = openEntryPorts(config.interfaces, profiles, host.isCaptured ?? false);
    try {
      for (const [index, port] of ports.entries()) {
        this.#ports.push(new GatewayPort(port, profiles, index * rowsOf(profiles), reports));
      }
    } catch (error) {
      for (const port of ports) port.close();
      throw error;
    }
    const ancp = profiles.accessLine?.ancp;
    const [{ mac } = { mac: new Uint8Array(6) }] = ports;
    if (ancp?.enabled) this.#nodes = new AncpServer(ancp, mac);
    const group = new GatewayGroup(this.#ports);
    for (const port of this.#ports) port.group = group;
    context.accessGroups?.gateways.register(config.groupId, group);
  }

  /** Access nodes may call from now on. */
  async open(): Promise<this> {
    try {
      await this.#nodes?.open();
    } catch (error) {
      await this.close();
      throw error;
    }
    return this;
  }

  async start(): Promise<void> {
    const timer = setInterval(() => this.#report(false), reportMs);
    for (const port of this.#ports) port.start();
    try {
      await aborted(this.#context.signal);
      for (const port of this.#ports) port.end();
      const deadline = performance.now() + endGraceMs;
      while (this.#ports.some(({ isOver }) => !isOver) && performance.now() < deadline) await sleep(10);
    } finally {
      clearInterval(timer);
      this.#report(true);
    }
  }

  async close(): Promise<void> {
    this.#nodes?.close();
    for (const port of this.#ports) port.close();
  }

  #report(isLast: boolean): void {
    const now = performance.now();
    let [wanted, established] = [0, 0];
    for (const port of this.#ports) {
      wanted += port.existing;
      established += port.established;
      this.#meters.followGateway(port.name, port.gateway);
      port.report(this.#context, { meters: this.#meters, events: this.#events });
    }
    this.#reportLines();
    this.#meters.update({ wanted, established }, (now - this.#reportedMs) / 1000);
    this.#events.report(isLast);
    this.#reportedMs = now;
  }

  #reportLines(): void {
    if (this.#nodes === undefined) return;
    this.#meters.followLines('lines', this.#nodes);
    reportPorts(this.#nodes.takeRows(), this.#context, this.#events);
  }
}

export const prepareGateway = (context: EngineContext<AccessPlaneConfig>): Promise<PreparedEngine> =>
  new GatewayRun(context).open();
