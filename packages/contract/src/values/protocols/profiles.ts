import type { Static } from 'typebox';
import { access, accessLine, dot1x, lag, links, sessions } from './access-line.ts';
import { dhcp, dhcpv6, ipoe } from './address-assignment.ts';
import { bgp, evpn } from './bgp.ts';
import { isis, ospf, rip } from './interior-routing.ts';
import { fec129, pseudowire, vpls, vpws } from './layer2-vpn.ts';
import { ldp, mldp, mplsTp } from './mpls.ts';
import { igmp, igmpQuerier, mld, mldQuerier, pim } from './multicast.ts';
import { bfd, linkOam, mplsOam } from './oam.ts';
import { l2tp, ppp, pppoe } from './point-to-point.ts';
import { openflow, stp } from './switching.ts';
import { gptp } from './timing.ts';

/** Protocols of a task's `accessPlane`, by the member that holds ids of their profiles. */
export const accessProfiles = {
  accessLine,
  dhcp,
  dhcpv6,
  dot1x,
  gptp,
  igmp,
  ipoe,
  l2tp,
  lag,
  links,
  openflow,
  ppp,
  pppoe,
  sessions,
  stp,
};

/** Protocols of a task's `controlPlane`. */
export const controlProfiles = {
  access,
  bfd,
  bgp,
  evpn,
  fec129,
  igmp,
  'igmp-querier': igmpQuerier,
  isis,
  ldp,
  'link-oam': linkOam,
  mld,
  'mld-querier': mldQuerier,
  mldp,
  'mpls-oam': mplsOam,
  'mpls-tp': mplsTp,
  ospf,
  pim,
  pseudowire,
  rip,
  vpls,
  vpws,
};

/** Schema of `config` of a dictionary of type `protocol.<name>`, all defaults applied. */
export const protocolProfiles = { ...accessProfiles, ...controlProfiles };
export type ProtocolName = keyof typeof protocolProfiles;
export type ProtocolConfig<Name extends ProtocolName = ProtocolName> = Static<(typeof protocolProfiles)[Name]>;
export const protocolNames = Object.keys(protocolProfiles).sort() as ProtocolName[];

/** The protocol of a dictionary's type, if it is one. */
export const findProtocol = (type: string): ProtocolName | undefined => {
  const name = type.startsWith('protocol.') ? type.slice('protocol.'.length) : '';
  return Object.hasOwn(protocolProfiles, name) ? (name as ProtocolName) : undefined;
};
