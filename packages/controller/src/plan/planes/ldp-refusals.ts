import { isDeepStrictEqual } from 'node:util';
import type { ProtocolConfig } from '@rushhour/contract';
import { vplsSiteRefusals } from './evpn-refusals.ts';
import { defaultProfile } from './plane-references.ts';
import { asked, type EntryOfRouters, type Refusal } from './refusal.ts';

const lastLabel = 0xfffff;
const lastNumber = 0xffffffff;
/** Of a request in a packet of 1500 bytes. */
const maxPadding = 1400;
const pair = /^([0-9]{1,10}|([0-9]{1,3}\.){3}[0-9]{1,3}):[0-9]{1,10}$/;

const isGroup = (address: string): boolean => /^2(2[4-9]|3[0-9])\./.test(address);

type Case = readonly [boolean, ...Refusal];

const needsLdp = ({ profiles }: EntryOfRouters): Case => [
  profiles['ldp'] === undefined,
  '',
  'needs a profile of LDP in the entry',
];

/** Labels are given out in sequence, for each neighbour anew. */
const labels = (section: string, given: { labelStart: number; count: number }, neighbours = 1): Case => [
  given.labelStart + given.count * neighbours - 1 > lastLabel,
  `${section}/count`,
  'the last wire has no label',
];

const numbers = (pointer: string, first: number, count: number): Case => [
  first + count - 1 > lastNumber,
  pointer,
  'the last wire has no number',
];

const usersOf = (protocol: string, { profiles, routers }: EntryOfRouters): number =>
  Math.ceil(routers / (profiles[protocol]?.length ?? 1));

/** A router of LDP speaks one version of IP: that of its transport address. */
export const ldpRefusals = ({ session, targeted, bindings }: ProtocolConfig<'ldp'>): Refusal[] => {
  const isV6 = (address: string) => address.includes(':');
  const { transportAddress } = session;
  const isOver6 = transportAddress !== undefined && isV6(transportAddress);
  return asked([
    [isOver6 && session.lsrId === undefined, '/session/lsrId', 'is needed beside an IPv6 address'],
    [isOver6 && bindings.count > 0, '/bindings/count', 'over IPv6 there are IPv6 prefixes'],
    [!isOver6 && bindings.ipv6Count > 0, '/bindings/ipv6Count', 'needs an IPv6 address in /session/transportAddress'],
    [targeted.peers.some((peer) => isV6(peer) !== isOver6), '/targeted/peers', 'are not of the version of the router'],
  ]);
};

/** Pseudowires of LDP. */
export const overLdpRefusals = {
  pseudowire: ({ wire, status }: ProtocolConfig<'pseudowire'>, entry: EntryOfRouters): Refusal[] =>
    asked([
      needsLdp(entry),
      labels('/wire', wire),
      numbers('/wire/count', wire.idStart, wire.count * usersOf('pseudowire', entry)),
      [status.backup !== 'none' && !status.statusTlv, '/status/backup', 'roles are signalled by the status'],
    ]),
  vpls: (config: ProtocolConfig<'vpls'>, entry: EntryOfRouters): Refusal[] => {
    const { instance, neighbours, sites } = config;
    if (instance.signalling === 'bgp') return vplsSiteRefusals(config, entry);
    const isDefault = isDeepStrictEqual(sites, (defaultProfile('vpls') as ProtocolConfig<'vpls'>).sites);
    return asked([
      needsLdp(entry),
      [!isDefault, '/sites', 'belongs to signalling by bgp'],
      labels('/instance', instance, Math.max(1, neighbours.peers.length)),
      numbers('/instance/count', instance.vpnIdStart, instance.count),
    ]);
  },
  mldp: ({ tree, service }: ProtocolConfig<'mldp'>, entry: EntryOfRouters): Refusal[] => {
    const isMutual = tree.kind === 'multipoint-to-multipoint';
    return asked([
      needsLdp(entry),
      [tree.labelStart + tree.count - 1 > lastLabel, '/tree/count', 'the last tree has no label'],
      [!service.inBand && tree.opaqueStart + tree.count - 1 > lastNumber, '/tree/count', 'the last tree has no id'],
      [service.inBand && isMutual, '/service/inBand', 'belongs to trees of one sender'],
      [service.inBand && !isGroup(service.groupStart), '/service/groupStart', 'is no multicast group'],
    ]);
  },
  'mpls-oam': ({ ping }: ProtocolConfig<'mpls-oam'>, entry: EntryOfRouters): Refusal[] =>
    asked([
      needsLdp(entry),
      [!ping.destination.startsWith('127.'), '/ping/destination', 'must be inside of 127/8'],
      [ping.sizeBytes > maxPadding, '/ping/sizeBytes', `${maxPadding} bytes fit into a packet`],
    ]),
  fec129: ({ attachment }: ProtocolConfig<'fec129'>, entry: EntryOfRouters): Refusal[] => {
    const all = attachment.count * usersOf('fec129', entry);
    return asked([
      needsLdp(entry),
      labels('/attachment', attachment),
      numbers('/attachment/count', Math.max(attachment.sourceStart, attachment.targetStart), all),
      [!pair.test(attachment.groupId), '/attachment/groupId', 'must have the form 65000:1 or 192.0.2.1:1'],
      [attachment.type === '1' && attachment.globalId !== 0, '/attachment/globalId', 'belongs to type 2'],
      [attachment.type === '1' && attachment.prefix !== undefined, '/attachment/prefix', 'belongs to type 2'],
      [attachment.prefix?.includes(':') === true, '/attachment/prefix', 'must be an IPv4 address'],
    ]);
  },
};
