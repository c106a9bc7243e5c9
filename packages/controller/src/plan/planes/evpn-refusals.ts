import type { ProtocolConfig } from '@rushhour/contract';
import { asked, type EntryOfRouters, type Refusal } from './refusal.ts';

const maxVni = 0xffffff;
const minLabel = 16;
const maxLabel = 0xfffff;
const maxVlan = 4094;

type Evpn = ProtocolConfig<'evpn'>;

const numberRefusals = ({ instance, segment }: Evpn): Refusal[] => {
  const { count, idStart, vlanStart, encapsulation, service } = instance;
  const isMpls = encapsulation === 'mpls';
  // Behind the labels of the instances there is one for the segment.
  const lastId = idStart + count - (isMpls && segment.identifier !== undefined ? 0 : 1);
  return asked([
    [isMpls && idStart < minLabel, '/instance/idStart', `labels below ${minLabel} are reserved`],
    [lastId > (isMpls ? maxLabel : maxVni), '/instance/count', 'the last instance has no id'],
    [service === 'vlan-aware' && vlanStart === 0, '/instance/vlanStart', 'vlan-aware instances need a VLAN'],
    [vlanStart > 0 && vlanStart + count - 1 > maxVlan, '/instance/count', 'the last instance has no VLAN'],
  ]);
};

const hostRefusals = ({ instance, segment, hosts }: Evpn, { profiles, routers }: EntryOfRouters): Refusal[] => {
  const users = Math.ceil(routers / (profiles['evpn']?.length ?? 1));
  const hasSegment = segment.identifier !== undefined;
  const needsSegment = instance.routeTypes.includes('1') || instance.routeTypes.includes('4');
  const perNetwork = hosts.perInstance * (hasSegment ? 1 : users);
  const bits = Number(hosts.ipv4Start.split('/')[1]);
  const moves = hosts.moveSec > 0;
  const hasChurn = (profiles['bgp'] ?? []).some((bgp) => (bgp as ProtocolConfig<'bgp'>).churn.intervalSec > 0);
  return asked([
    [needsSegment && !hasSegment, '/segment/identifier', 'routes of type 1 and 4 need it'],
    [
      hosts.withIpv4 && perNetwork > Math.max(2 ** (32 - bits) - 2, 0),
      '/hosts/ipv4Start',
      `the network is too small for ${perNetwork} hosts`,
    ],
    [moves && hasSegment, '/hosts/moveSec', 'hosts of a segment are behind all its routers'],
    [moves && users < 2, '/hosts/moveSec', 'needs a second router with the profile'],
    [moves && hasChurn, '/hosts/moveSec', 'cannot be combined with churn of BGP'],
  ]);
};

type Family = ProtocolConfig<'bgp'>['capabilities']['families'][number];

const needsFamily = (family: Family, { profiles }: EntryOfRouters): readonly [boolean, ...Refusal] => {
  const has = (profiles['bgp'] ?? []).some((bgp) =>
    (bgp as ProtocolConfig<'bgp'>).capabilities.families.includes(family),
  );
  return [!has, '', `needs a profile of BGP with the family ${family} in the entry`];
};

/** Ids of EVPN have 24 bits, those of blocks of labels 16. */
const maxServiceId = { evpn: 0xffffff, bgp: 0xffff } as const;

const usersOf = (protocol: string, { profiles, routers }: EntryOfRouters): number =>
  Math.ceil(routers / (profiles[protocol]?.length ?? 1));

/** Wires of VPWS; those of a router follow those of the one before it. */
export const vpwsRefusals = ({ instance }: ProtocolConfig<'vpws'>, entry: EntryOfRouters): Refusal[] => {
  const { count, localId, remoteId, labelStart, signalling } = instance;
  const last = Math.max(localId, remoteId) + count * usersOf('vpws', entry) - 1;
  return asked([
    needsFamily(signalling === 'evpn' ? 'l2vpn-evpn' : 'l2vpn-vpls', entry),
    [labelStart + count - 1 > maxLabel, '/instance/count', 'the last wire has no label'],
    [last > maxServiceId[signalling], '/instance/count', 'the last wire has no id'],
  ]);
};

/** The second half of a distinguisher that is made from an address. */
const maxInstances = 0xfffe;

/** Sites of VPLS that are announced over BGP. */
export const vplsSiteRefusals = (
  { instance, sites, neighbours }: ProtocolConfig<'vpls'>,
  entry: EntryOfRouters,
): Refusal[] => {
  const { count, labelStart } = instance;
  return asked([
    needsFamily('l2vpn-vpls', entry),
    [count > maxInstances, '/instance/count', `BGP has distinguishers for ${maxInstances}`],
    [labelStart + count * sites.blockSize - 1 > maxLabel, '/sites/blockSize', 'the last block has no labels'],
    [sites.siteIdStart + usersOf('vpls', entry) - 1 > 0xffff, '/sites/siteIdStart', 'the last site has no id'],
    [neighbours.peers.length > 0, '/neighbours/peers', 'BGP finds the neighbours'],
  ]);
};

/** Routes of EVPN travel over BGP. */
export const evpnRefusals = (config: Evpn, entry: EntryOfRouters): Refusal[] => {
  return [...asked([needsFamily('l2vpn-evpn', entry)]), ...numberRefusals(config), ...hostRefusals(config, entry)];
};
