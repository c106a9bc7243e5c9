import {
  type AccessClientOptions,
  type DhcpClientOptions,
  type IgmpOptions,
  type IpoeOptions,
  type PppoeClientOptions,
  parseMac,
  untagged,
  type VlanPlan,
} from '@rushhour/wire';
import { dslTypes } from '../ancp-lines.ts';
import {
  address4,
  bytesOf,
  type DhcpProfile,
  type IgmpProfile,
  numberedBytes,
  type Profiles,
  requireProfile,
} from './access-profiles.ts';
import { supplicantOptionsOf } from './dot1x-options.ts';
import { ipoe6OptionsOf } from './ipv6-options.ts';
import { lacOptionsOf } from './l2tp-options.ts';
import { pppClientOptions } from './ppp-options.ts';

/** The subscribers of one interface: which of all they are. */
export interface Share {
  /** Number of the first subscriber. */
  readonly first: number;
  readonly count: number;
  readonly interfaceMac: Uint8Array;
  readonly interfaceName: string;
}

const second = 1000;

/** VLANs of the access line, or the tags of the link where there is no line. */
export const vlanPlanOf = ({ accessLine, links }: Profiles): VlanPlan => {
  if (accessLine !== undefined) {
    const { outerTpid, ...vlan } = accessLine.vlan;
    return { ...vlan, outerTpid: Number(outerTpid) };
  }
  if (links === undefined || (links.vlan.outer === 0 && links.vlan.inner === 0)) return untagged;
  const { outer, inner, priority } = links.vlan;
  return {
    mode: 'n:1',
    outerStart: outer,
    outerEnd: outer,
    innerStart: inner,
    innerEnd: inner,
    outerTpid: untagged.outerTpid,
    priority,
  };
};

/** What is said about the lines of subscribers: by the access line, or by the protocol where there is none. */
const lineIdsOf = (
  { accessLine }: Profiles,
  own: { readonly circuitId: string; readonly remoteId: string },
  first: number,
) => {
  const { circuitId, remoteId } = accessLine?.line ?? own;
  return { circuitId: numberedBytes(circuitId, first), remoteId: numberedBytes(remoteId, first) };
};

const dhcpOptions = (profiles: Profiles, { client, relay }: DhcpProfile, first: number): DhcpClientOptions => ({
  timeoutMs: client.timeoutSec * second,
  retries: client.retries,
  isBroadcast: client.broadcast,
  rapidCommit: client.rapidCommit,
  hostName: numberedBytes(client.hostName, first),
  vendorClass: bytesOf(client.vendorClass),
  clientId: client.clientId,
  parameters: Uint8Array.from(client.parameters),
  renewPct: client.renewPct,
  relay: relay.enabled
    ? {
        ...lineIdsOf(profiles, relay, first),
        gatewayAddress: relay.gatewayAddress === undefined ? 0 : address4(relay.gatewayAddress),
      }
    : undefined,
});

const ipv4Options = (profiles: Profiles, first: number): IpoeOptions['ipv4'] => {
  const { ipv4 } = requireProfile(profiles, 'ipoe');
  if (!ipv4.enabled) return undefined;
  if (ipv4.method === 'dhcp') return { dhcp: dhcpOptions(profiles, requireProfile(profiles, 'dhcp'), first) };
  return {
    first: (address4(ipv4.addressStart) + first * ipv4.addressStep) | 0,
    gateway: address4(ipv4.gateway),
    step: ipv4.addressStep,
  };
};

const ipoeOptions = (profiles: Profiles, first: number, dscp: number): IpoeOptions => {
  const { neighbours } = requireProfile(profiles, 'ipoe');
  return {
    ipv4: ipv4Options(profiles, first),
    ipv6: ipoe6OptionsOf(profiles, first, dscp),
    releases: profiles.dhcp?.client.release ?? false,
    neighbours: {
      timeoutMs: neighbours.timeoutSec * second,
      retries: neighbours.retries,
      intervalMs: neighbours.intervalSec * second,
      trusted: neighbours.trustedGateways.filter((text) => !text.includes(':')).map(address4),
    },
    dscp,
  };
};

const igmpOptions = ({ host, join, zapping }: IgmpProfile, part: number): IgmpOptions => ({
  version: host.version,
  firstGroup: address4(host.groupStart),
  groupCount: host.groupCount,
  groupStep: host.groupStep,
  sources: host.sources.map(address4),
  isInclude: host.filter === 'include',
  robustness: host.robustness,
  reportDelayMs: host.reportDelayMs,
  join: {
    isAutomatic: join.autostart,
    delayMs: join.delaySec * second,
    perSec: join.joinsPerSec * part,
    groupsPerHost: join.groupsPerHost,
  },
  zapping: {
    intervalMs: zapping.intervalSec * second,
    count: zapping.count,
    pauseMs: zapping.pauseSec * second,
    waitMs: zapping.waitMs,
    overlapMs: zapping.overlapMs,
  },
});

const pppoeOptions = (profiles: Profiles, first: number, dscp: number): PppoeClientOptions => {
  const { discovery, accessLine } = requireProfile(profiles, 'pppoe');
  const ppp = requireProfile(profiles, 'ppp');
  const { circuitId, remoteId } = lineIdsOf(profiles, accessLine, first);
  const { upstreamKbps = 0, downstreamKbps = 0, kind } = profiles.accessLine?.line ?? {};
  const rest = { upstreamKbps, downstreamKbps, ...(kind !== undefined && { dslType: dslTypes[kind] ?? 0 }) };
  return {
    serviceName: bytesOf(discovery.serviceName),
    acName: bytesOf(discovery.acName),
    timeoutMs: discovery.timeoutSec * second,
    retries: discovery.retries,
    hostUniq: discovery.hostUniq,
    maxPayload: discovery.maxPayload,
    priority: discovery.vlanPriority,
    line: accessLine.enabled
      ? (session) => ({ circuitId: circuitId(session), remoteId: remoteId(session), ...rest })
      : undefined,
    dscp,
    ppp: pppClientOptions(ppp, profiles, first),
  };
};

const macAfter = (mac: Uint8Array, distance: number): Uint8Array => {
  let value = Array.from(mac).reduce((sum, byte) => sum * 256 + byte, 0) + distance;
  const bytes = new Uint8Array(6);
  for (let i = 5; i >= 0; i--) {
    bytes[i] = value % 256;
    value = Math.floor(value / 256);
  }
  return bytes;
};

/** Everything about the subscribers of an interface that the profiles say. */
export const clientOptionsOf = (
  profiles: Profiles,
  share: Share,
): Omit<AccessClientOptions, 'sink' | 'random' | 'listener'> => {
  const { load, life, traffic } = requireProfile(profiles, 'sessions');
  const { sourceMac, macStep = 1 } = profiles.links?.link ?? {};
  const { first, count, interfaceMac, interfaceName } = share;
  const part = count / load.count;
  return {
    count,
    firstMac: sourceMac === undefined ? interfaceMac : macAfter(parseMac(sourceMac), first * macStep),
    macStep,
    vlan: vlanPlanOf(profiles),
    load: {
      startPerSec: load.startPerSec * part,
      stopPerSec: load.stopPerSec * part,
      maxOutstanding: Math.max(1, Math.floor(load.maxOutstanding * part)),
      startDelayMs: load.startDelaySec * second,
    },
    life: {
      holdMs: life.holdSec * second,
      reconnect: life.reconnect,
      reconnectDelayMs: life.reconnectDelaySec * second,
      maxAttempts: life.maxAttempts,
    },
    proofPerSec: traffic.ipv4PacketsPerSec,
    proof6PerSec: traffic.ipv6PacketsPerSec,
    igmp: profiles.igmp && igmpOptions(profiles.igmp, part),
    dot1x: profiles.dot1x && supplicantOptionsOf(profiles.dot1x, first),
    access: {
      ...(profiles.pppoe && { pppoe: pppoeOptions(profiles, first, traffic.dscp) }),
      ...(profiles.ipoe && { ipoe: ipoeOptions(profiles, first, traffic.dscp) }),
      ...(profiles.l2tp && { l2tp: lacOptionsOf(profiles, { first, interfaceName, dscp: traffic.dscp }) }),
    },
  };
};
