import type { PathAttributes } from '../attributes.ts';
import type { EvpnEncapsulation, ForwarderElection } from './communities.ts';

export interface EvpnOptions {
  readonly router: {
    /** Which one of the routers with the same profile, from 0 on. */
    readonly ordinal: number;
    readonly id: number;
    readonly as: number;
    /** End of tunnels and next hop, 4 or 16 bytes. */
    readonly address: Uint8Array;
    readonly mac: Uint8Array;
  };
  /** Of all routes; communities of EVPN are added. */
  readonly attributes: PathAttributes;
  readonly instance: {
    readonly count: number;
    readonly encapsulation: EvpnEncapsulation;
    /** Routes of `vlan-aware` instances carry the VLAN as Ethernet tag, others 0. */
    readonly service: 'vlan-based' | 'vlan-bundle' | 'vlan-aware';
    readonly idStart: number;
    readonly vlanStart: number;
    readonly routeDistinguisher?: string | undefined;
    readonly routeTargets: readonly string[];
    /** `1` to `5`. */
    readonly routeTypes: readonly string[];
  };
  readonly segment: {
    /** Ten bytes in hexadecimal with colons. */
    readonly identifier?: string | undefined;
    readonly redundancy: 'all-active' | 'single-active';
    readonly election: ForwarderElection;
    readonly preference: number;
  };
  readonly hosts: {
    readonly perInstance: number;
    readonly macStart: string;
    readonly withIpv4: boolean;
    readonly ipv4Start: string;
  };
}

const maxVni = 0xffffff;
const minLabel = 16;
const maxLabel = 0xfffff;
const maxVlan = 4094;

/** Throws where the routes of a router cannot be numbered. */
export const checkEvpnOptions = ({ instance, segment, hosts, router }: EvpnOptions): void => {
  const { count, idStart, vlanStart, routeTypes, encapsulation } = instance;
  const isMpls = encapsulation === 'mpls';
  // Behind the labels of the instances there is one for the segment.
  const lastId = idStart + count - (isMpls && segment.identifier !== undefined ? 0 : 1);
  const needsSegment = routeTypes.includes('1') || routeTypes.includes('4');
  const copies = segment.identifier === undefined ? router.ordinal + 1 : 1;
  const bits = Number(hosts.ipv4Start.split('/')[1]);
  const rules: readonly (readonly [isBroken: boolean, path: string, reason: string])[] = [
    [isMpls && idStart < minLabel, 'instance.idStart', `labels below ${minLabel} are reserved`],
    [lastId > (isMpls ? maxLabel : maxVni), 'instance.count', 'the last instance has no id'],
    [instance.service === 'vlan-aware' && vlanStart === 0, 'instance.vlanStart', 'vlan-aware instances need a VLAN'],
    [vlanStart + count - 1 > maxVlan && vlanStart > 0, 'instance.count', 'the last instance has no VLAN'],
    [needsSegment && segment.identifier === undefined, 'segment.identifier', 'routes of type 1 and 4 need it'],
    [
      hosts.withIpv4 && hosts.perInstance > 0 && copies * hosts.perInstance > 2 ** (32 - bits) - 2,
      'hosts.ipv4Start',
      'the network is too small for the hosts',
    ],
  ];
  const broken = rules.find(([isBroken]) => isBroken);
  if (broken !== undefined) throw new RangeError(`EVPN ${broken[1]}: ${broken[2]}`);
};
