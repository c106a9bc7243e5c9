import type { ProtocolConfig } from '@rushhour/contract';
import { evpnRefusals } from './evpn-refusals.ts';
import { overLdpRefusals } from './ldp-refusals.ts';
import { asked, type EntryOfRouters, type Refusal } from './refusal.ts';

const ripRefusals = ({ instance, routes, authentication }: ProtocolConfig<'rip'>): Refusal[] => {
  const [isFirst, isNg] = [instance.version === '1', instance.version === 'ng'];
  const hasKey = authentication.kind !== 'none';
  return asked([
    [isFirst && hasKey, '/authentication/kind', 'version 1 has no authentication'],
    [isFirst && routes.tag !== 0, '/routes/tag', 'version 1 has no tags'],
    [isNg && hasKey, '/authentication/kind', 'RIPng has no authentication of its own'],
    [isNg && instance.send === 'broadcast', '/instance/send', 'IPv6 has no broadcast'],
    [isNg && routes.ipv4Count > 0, '/routes/ipv4Count', 'RIPng announces IPv6 prefixes'],
    [!isNg && routes.ipv6Count > 0, '/routes/ipv6Count', 'needs version ng'],
  ]);
};

/** A router LSA of version 2 has 65,535 bytes at most, 12 for each prefix. */
const maxPrefixesPerNode = 5000;

const ospfRefusals = ({ instance, authentication, topology, ...more }: ProtocolConfig<'ospf'>): Refusal[] => {
  const isVersion3 = instance.version === 3;
  const hasKey = authentication.kind !== 'none';
  return asked([
    [!isVersion3 && instance.instanceId !== 0, '/instance/instanceId', 'version 2 has no instances'],
    [
      !isVersion3 && topology.prefixesPerNode > maxPrefixesPerNode,
      '/topology/prefixesPerNode',
      `routers of version 2 announce ${maxPrefixesPerNode} at most`,
    ],
    [isVersion3 && more.interface.bfd, '/interface/bfd', 'version 3 cannot be watched yet'],
    [isVersion3 && hasKey, '/authentication/kind', 'version 3 cannot be authenticated yet'],
  ]);
};

/** Version 2 has a byte for tenths of seconds. */
const maxResponseMs = 25_500;
/** What hosts of version 1 are given, and what they have no messages for. */
const version1 = { responseMs: 10_000, lastMemberMs: 1000, lastMemberCount: 2 } as const;

const querierRefusals = ({ querier }: ProtocolConfig<'igmp-querier'>): Refusal[] => {
  const { version, responseMs, queryIntervalSec } = querier;
  const unknown = (['responseMs', 'lastMemberMs', 'lastMemberCount'] as const).filter(
    (name) => version === 1 && querier[name] !== version1[name],
  );
  return [
    ...unknown.map((name) => [`/querier/${name}`, 'version 1 has no field for it'] as const),
    ...asked([
      [version === 2 && responseMs > maxResponseMs, '/querier/responseMs', `version 2 has ${maxResponseMs} at most`],
      [responseMs >= queryIntervalSec * 1000, '/querier/responseMs', 'must be less than the time between queries'],
    ]),
  ];
};

const isV6 = (address: string): boolean => address.includes(':');
const isGroup = (address: string): boolean =>
  isV6(address) ? /^ff/i.test(address) : /^2(2[4-9]|3[0-9])\./.test(address);

const pimRefusals = ({ interface: { mode }, rendezvous, joins, registers }: ProtocolConfig<'pim'>): Refusal[] => {
  const { groupStart, groupCount, sources } = joins;
  const isSpecific = mode === 'source-specific';
  const joinsShared = groupCount > 0 && sources.length === 0;
  const hasNoPoint = rendezvous.kind === 'none';
  const given = [groupStart, rendezvous.address, ...sources].filter((address) => address !== undefined);
  return asked([
    [new Set(given.map(isV6)).size > 1, '/joins', 'addresses are not all of the same version'],
    [groupStart !== undefined && !isGroup(groupStart), '/joins/groupStart', 'is no multicast group'],
    [isSpecific && joinsShared, '/joins/sources', 'the mode source-specific needs sources'],
    [isSpecific && registers.perSec > 0, '/registers/perSec', 'the mode source-specific has no rendezvous point'],
    [!isSpecific && hasNoPoint && joinsShared, '/joins/sources', 'there is no rendezvous point: name sources'],
    [!isSpecific && hasNoPoint && registers.perSec > 0, '/registers/perSec', 'there is no rendezvous point'],
  ]);
};

/** Sessions over TCP are signed with the key. */
const signatureRefusals = ({ authentication: { kind, key } }: ProtocolConfig<'bgp' | 'ldp'>): Refusal[] =>
  asked([[kind === 'md5' && key === '', '/authentication/key', 'MD5 needs a key']]);

/** The key is padded to the length of the digest. */
const maxKeyBytes = { simple: 16, md5: 16, 'meticulous-md5': 16, sha1: 20, 'meticulous-sha1': 20 } as const;

const bfdRefusals = ({ authentication: { kind, key, keyId } }: ProtocolConfig<'bfd'>): Refusal[] => {
  if (kind === 'none') return [];
  return asked([
    [key === '', '/authentication/key', `${kind} needs a key`],
    [
      Buffer.byteLength(key) > maxKeyBytes[kind],
      '/authentication/key',
      `${kind} has ${maxKeyBytes[kind]} bytes at most`,
    ],
    [keyId > 255, '/authentication/keyId', 'BFD has 255 at most'],
  ]);
};

/** A link has two ends, and one of them is at the other side. */
const linkOamRefusals = (_: ProtocolConfig<'link-oam'>, { profiles, routers }: EntryOfRouters): Refusal[] =>
  asked([[routers > 1 || (profiles['link-oam']?.length ?? 0) > 1, '', 'an entry with link OAM has one router']]);

const refusals: Readonly<Record<string, (config: never, entry: EntryOfRouters) => Refusal[]>> = {
  bfd: bfdRefusals,
  bgp: signatureRefusals,
  evpn: evpnRefusals,
  fec129: overLdpRefusals.fec129,
  'igmp-querier': querierRefusals,
  ldp: signatureRefusals,
  'link-oam': linkOamRefusals,
  mldp: overLdpRefusals.mldp,
  ospf: ospfRefusals,
  pim: pimRefusals,
  pseudowire: overLdpRefusals.pseudowire,
  rip: ripRefusals,
  vpls: overLdpRefusals.vpls,
};

const isWatched = (config: unknown): boolean =>
  (config as { readonly interface?: { readonly bfd?: boolean } }).interface?.bfd === true;

/** Members of a profile of the control plane that contradict others. */
export const controlRefusals = (protocol: string, config: unknown, entry: EntryOfRouters): readonly Refusal[] => [
  ...(refusals[protocol]?.(config as never, entry) ?? []),
  ...(isWatched(config) && entry.profiles['bfd'] === undefined
    ? [['/interface/bfd', 'needs a profile of BFD in the entry'] as const]
    : []),
];
