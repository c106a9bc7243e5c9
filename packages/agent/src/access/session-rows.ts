import type { ResultRow } from '@rushhour/protocol';
import {
  type AccessClient,
  type AccessGateway,
  type AdmittedClient,
  formatAddress,
  formatMac,
  type L2tpLns,
  type PortPeer,
  writeMapped,
} from '@rushhour/wire';

type Ipoe6 = NonNullable<NonNullable<AccessClient['ipoe']>['ipv6']>;
type Dhcpv6Server = NonNullable<NonNullable<AccessGateway['ipoe6']>['dhcpv6']>;

/** Rows that are reported in one go; the rest follows in the next. */
const maxRows = 5000;

const words = new Int32Array(4);
const mac = new Uint8Array(6);

const textOfAddress = (address: number): string | null => {
  if (address === 0) return null;
  writeMapped(words, 0, address);
  return formatAddress(words, 0);
};

const textOfTags = (tags: number): string | null => {
  if (tags === 0) return null;
  const [outer, inner] = [(tags >>> 16) & 0xfff, tags & 0xfff];
  return outer === 0 ? `${inner}` : `${outer}.${inner}`;
};

/** Remembers which sessions have changed since their rows were reported. */
export class ChangedRows {
  readonly #isChanged: Uint8Array;
  readonly #changed: number[] = [];

  constructor(count: number) {
    this.#isChanged = new Uint8Array(count);
  }

  add(session: number): void {
    if (this.#isChanged[session] === 1) return;
    this.#isChanged[session] = 1;
    this.#changed.push(session);
  }

  addAll(): void {
    for (let session = 0; session < this.#isChanged.length; session++) this.add(session);
  }

  /** Removes and returns the sessions whose rows are due. */
  take(max = maxRows): number[] {
    const taken = this.#changed.splice(0, max);
    for (const session of taken) this.#isChanged[session] = 0;
    return taken;
  }
}

interface RowContext {
  /** Number of the first session of the interface. */
  readonly first: number;
  readonly interface: string;
  readonly session: number;
}

const historyOf = (table: AccessClient['subscribers']['table'], session: number, nowMs: number) => {
  const { state, step, attempts, flaps, setupMs, cause } = table.viewOf(session);
  const uptimeMs = table.uptimeOf(session, nowMs);
  return {
    state,
    cells: {
      step: step === 'none' ? null : step,
      setupMs: setupMs < 0 ? null : setupMs,
      upSince: state === 'up' ? new Date(Date.now() - uptimeMs).toISOString() : null,
      uptimeSec: Math.round(uptimeMs / 100) / 10,
      attempts,
      flaps,
      lastError: cause === 'none' ? null : cause,
      rxPackets: table.rxPackets[session] as number,
      txPackets: table.txPackets[session] as number,
      rxBytes: table.rxBytes[session] as number,
      txBytes: table.txBytes[session] as number,
    },
  };
};

/** Multicast groups of a session, at most so many as a cell is long. */
const textOfGroups = (groups: readonly number[]): string | null =>
  groups.length === 0 ? null : groups.slice(0, 12).map(textOfAddress).join(' ');

/** Prefix that is delegated to a session. */
const prefixOf = (dhcpv6: Ipoe6['dhcpv6'], session: number): string | null => {
  const length = dhcpv6?.prefixLength[session] ?? 0;
  return dhcpv6 === undefined || length === 0 ? null : `${formatAddress(dhcpv6.prefix, session * 4)}/${length}`;
};

/** Address, delegated prefix and gateway of a session; null: there is none. */
const ipv6Cells = ({ address, gateway, dhcpv6 }: Ipoe6, session: number) => {
  const textAt = (all: Int32Array) => (all[session * 4] === 0 ? null : formatAddress(all, session * 4));
  return {
    ipv6: textAt(address),
    gateway6: textAt(gateway),
    prefix: prefixOf(dhcpv6, session),
  };
};

/** Addresses of a session of PPP. */
const pppCells = ({ ipcp, ip6cp, ipv4, sessionIpv6 }: L2tpLns['ppp'], session: number) => {
  const isOpen = ipcp.isOpen(session);
  const hasIpv6 = ip6cp.isOpen(session) && sessionIpv6.writeAddress(session, words);
  return {
    ipv6: hasIpv6 ? formatAddress(words, 0) : null,
    prefix: prefixOf(sessionIpv6.dhcpv6, session),
    address: isOpen ? textOfAddress(ipv4.address[session] as number) : null,
    gateway: isOpen ? textOfAddress(ipv4.peer[session] as number) : null,
  };
};

/** The tunnel of a session: its other end, and the identifiers of this end. */
const callCells = (calls: L2tpLns['calls'], session: number) => {
  const call = calls.find(session);
  return {
    peer: call === undefined ? null : textOfAddress(call.tunnel.peer.address),
    tunnelId: call?.tunnel.localId ?? null,
    sessionId: call?.localId ?? null,
  };
};

/** The row of a subscriber. */
export const clientRow = (client: AccessClient, { first, interface: name, session }: RowContext): ResultRow => {
  const { lines, ipoe, pppoe, l2tp, igmp, supplicants, subscribers } = client;
  // A concentrator of tunnels has one MAC for all.
  lines.writeMac(l2tp === undefined ? session : 0, mac, 0);
  const identity = {
    ...{ interface: name, mac: formatMac(mac), vlan: textOfTags(lines.tagsOf(session)) },
    ...(igmp !== undefined && { groups: textOfGroups(igmp.hosts.groupsOf(session)) }),
    ...(supplicants !== undefined && {
      authentication: supplicants.isAuthenticated(session) ? supplicants.methodName : 'none',
    }),
  };
  const { state, cells } = historyOf(subscribers.table, session, subscribers.timers.nowMs);
  if (ipoe !== undefined) {
    const address = textOfAddress(ipoe.address[session] as number);
    const gateway = textOfAddress(ipoe.gateway[session] as number);
    const leaseSec = ipoe.dhcp?.leaseSec[session] ?? null;
    const network = { ...(ipoe.ipv6 && ipv6Cells(ipoe.ipv6, session)), address, gateway, leaseSec };
    return { index: first + session, state, cells: { ...identity, ...network, ...cells } };
  }
  const ppp = (pppoe ?? l2tp)?.ppp;
  const network = {
    ...(ppp !== undefined && pppCells(ppp, session)),
    ...(pppoe !== undefined && { sessionId: state === 'up' ? (pppoe.sessionId[session] as number) : null }),
    ...(l2tp !== undefined && callCells(l2tp.calls, session)),
  };
  return { index: first + session, state, cells: { ...identity, ...network, ...cells } };
};

/** Addresses that the server of PPP has given a session. */
const grantCells = ({ ipcp, ipv4, sessionIpv6 }: L2tpLns['ppp'], session: number) => {
  const lease = sessionIpv6.leaseOf(session);
  return {
    address: ipcp.isOpen(session) ? textOfAddress(ipv4.peer[session] as number) : null,
    ...(sessionIpv6.server !== undefined && lease6Cells(sessionIpv6.server, lease, lease >= 0)),
  };
};

/** The row of a PPPoE session of a gateway. */
export const gatewayRow = (
  gateway: NonNullable<AccessGateway['pppoe']>,
  { first, interface: name, session }: RowContext,
): ResultRow => {
  gateway.writePeerMac(session, mac, 0);
  const { state, cells } = historyOf(gateway.table, session, gateway.timers.nowMs);
  return {
    index: first + session,
    state,
    cells: {
      interface: name,
      mac: formatMac(mac),
      vlan: textOfTags(gateway.tagsOf(session)),
      ...grantCells(gateway.ppp, session),
      ...cells,
    },
  };
};

/** The row of a session in a tunnel of a gateway. */
export const tunnelledRow = (
  { table, ppp, calls, timers }: L2tpLns,
  { first, interface: name, session }: RowContext,
): ResultRow => {
  const { state, cells } = historyOf(table, session, timers.nowMs);
  const network = { ...callCells(calls, session), ...grantCells(ppp, session) };
  return { index: first + session, state, cells: { interface: name, ...network, ...cells } };
};

/** The row of a supplicant of an authenticator. */
export const portRow = (peer: PortPeer, first: number, name: string): ResultRow => ({
  index: first + peer.index,
  state: peer.state === 'authorized' ? 'up' : peer.state,
  cells: {
    ...{ interface: name, mac: formatMac(peer.mac), vlan: textOfTags(peer.tags) },
    identity: peer.identity === '' ? null : peer.identity.slice(0, 255),
    ...{ attempts: peer.attempts, refusals: peer.refusals },
    lastError: peer.lastError === '' ? null : peer.lastError,
  },
});

/** The row of a client of DHCP that a RADIUS server has refused, or let in after that. */
export const admissionRow = (
  { index, mac: own, tags, state, lastError }: AdmittedClient,
  first: number,
  name: string,
) => ({
  index: first + index,
  state: state === 'granted' ? 'authorized' : 'refused',
  cells: {
    ...{ interface: name, mac: formatMac(own), vlan: textOfTags(tags) },
    lastError: lastError === '' ? null : lastError,
  },
});

/** The row of a DHCP lease of a gateway. */
export const leaseRow = (
  dhcp: NonNullable<AccessGateway['ipoe']>['dhcp'],
  { first, interface: name, session: lease }: RowContext,
): ResultRow => {
  dhcp.writeClientMac(lease, mac, 0);
  const isActive = dhcp.isActive(lease);
  return {
    index: first + lease,
    state: isActive ? 'up' : 'idle',
    cells: {
      interface: name,
      mac: formatMac(mac),
      vlan: textOfTags(dhcp.tagsOf(lease)),
      address: isActive ? textOfAddress(dhcp.addressAt(lease)) : null,
      leaseSec: isActive ? dhcp.leaseSec : null,
    },
  };
};

const lease6Cells = (dhcpv6: Dhcpv6Server, lease: number, isActive: boolean) => ({
  ipv6: isActive && dhcpv6.writeAddress(lease, words) ? formatAddress(words, 0) : null,
  prefix: isActive && dhcpv6.writePrefix(lease, words) ? `${formatAddress(words, 0)}/${dhcpv6.delegatedLength}` : null,
  leaseSec: isActive ? dhcpv6.validSec : null,
});

/** The row of a DHCPv6 lease of a gateway. */
export const lease6Row = (dhcpv6: Dhcpv6Server, { first, interface: name, session: lease }: RowContext): ResultRow => {
  dhcpv6.writeClientMac(lease, mac, 0);
  const isActive = dhcpv6.isActive(lease);
  return {
    index: first + lease,
    state: isActive ? 'up' : 'idle',
    cells: {
      ...{ interface: name, mac: formatMac(mac), vlan: textOfTags(dhcpv6.tagsOf(lease)) },
      ...lease6Cells(dhcpv6, lease, isActive),
    },
  };
};
