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

const hasFamily = (entry: EntryOfRouters): boolean =>
  (entry.profiles['bgp'] ?? []).some((bgp) =>
    (bgp as ProtocolConfig<'bgp'>).capabilities.families.includes('l2vpn-evpn'),
  );

const maxServiceId = 0xffffff;

/** Wires of EVPN-VPWS; those of a router follow those of the one before it. */
export const vpwsRefusals = ({ instance }: ProtocolConfig<'vpws'>, entry: EntryOfRouters): Refusal[] => {
  const { count, localId, remoteId, labelStart } = instance;
  const users = Math.ceil(entry.routers / (entry.profiles['vpws']?.length ?? 1));
  const last = Math.max(localId, remoteId) + count * users - 1;
  return asked([
    [!hasFamily(entry), '', 'needs a profile of BGP with the family l2vpn-evpn in the entry'],
    [labelStart + count - 1 > maxLabel, '/instance/count', 'the last wire has no label'],
    [last > maxServiceId, '/instance/count', 'the last wire has no id'],
  ]);
};

/** Routes of EVPN travel over BGP. */
export const evpnRefusals = (config: Evpn, entry: EntryOfRouters): Refusal[] => {
  return [
    ...asked([[!hasFamily(entry), '', 'needs a profile of BGP with the family l2vpn-evpn in the entry']]),
    ...numberRefusals(config),
    ...hostRefusals(config, entry),
  ];
};
