import type { ProtocolConfig } from '@rushhour/contract';
import { evpnRefusals, vpwsRefusals } from './evpn-refusals.ts';
import { ldpRefusals, overLdpRefusals } from './ldp-refusals.ts';
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

/** Neighbours that are named one by one; version 3 speaks from link-local addresses. */
const ospfNeighbourRefusals = (config: ProtocolConfig<'ospf'>): Refusal[] => {
  const { network, neighbours } = config.interface;
  const isVersion3 = config.instance.version === 3;
  const isTaken = (address: string) => (isVersion3 ? /^fe[89ab][0-9a-f]:/i.test(address) : !isV6(address));
  const hasGroups = network === 'broadcast' || network === 'point-to-point';
  const needed = isVersion3 ? 'must be link-local addresses' : 'must be IPv4 addresses';
  return asked([
    [
      network === 'non-broadcast' && neighbours.length === 0,
      '/interface/neighbours',
      'non-broadcast networks need them',
    ],
    [hasGroups && neighbours.length > 0, '/interface/neighbours', `${network} networks find them by multicast`],
    [!neighbours.every(isTaken), '/interface/neighbours', needed],
  ]);
};

const ospfRefusals = (config: ProtocolConfig<'ospf'>): Refusal[] => {
  const { instance, authentication, topology } = config;
  const isVersion3 = instance.version === 3;
  const { kind, keyId } = authentication;
  const hasKey = kind !== 'none';
  const maxKeyId = isVersion3 ? 65_535 : 255;
  return asked([
    [!isVersion3 && instance.instanceId !== 0, '/instance/instanceId', 'version 2 has no instances'],
    [
      !isVersion3 && topology.prefixesPerNode > maxPrefixesPerNode,
      '/topology/prefixesPerNode',
      `routers of version 2 announce ${maxPrefixesPerNode} at most`,
    ],
    [isVersion3 && hasKey && kind !== 'hmac-sha-256', '/authentication/kind', 'version 3 takes hmac-sha-256 only'],
    [hasKey && kind !== 'simple' && keyId > maxKeyId, '/authentication/keyId', `must be at most ${maxKeyId}`],
  ]).concat(ospfNeighbourRefusals(config));
};

const lastLabel = 0xfffff;

const isisRefusals = (
  { instance, segmentRouting, topology }: ProtocolConfig<'isis'>,
  { profiles, routers }: EntryOfRouters,
): Refusal[] => {
  const { enabled, blockStart, blockSize, nodeIndexStart } = segmentRouting;
  const users = Math.ceil(routers / (profiles['isis']?.length ?? 1));
  const nodes = users * (topology.kind === 'none' ? 1 : topology.nodes + 1);
  return asked([
    [enabled && instance.routerId === undefined, '/instance/routerId', 'is the prefix of the first segment: name it'],
    [enabled && !instance.protocols.includes('ipv4'), '/segmentRouting/enabled', 'needs ipv4 in protocols'],
    [enabled && nodeIndexStart + nodes > blockSize, '/segmentRouting/blockSize', 'the last router has no index'],
    [enabled && blockStart + blockSize - 1 > lastLabel, '/segmentRouting/blockSize', 'the last index has no label'],
    [
      instance.multiTopology && !instance.protocols.includes('ipv6'),
      '/instance/multiTopology',
      'needs ipv6 in protocols',
    ],
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

/** A field of two bytes; version 2 has floating-point numbers. */
const maxMldResponseMs = { 1: 65_535, 2: 8_387_584 } as const;

const mldQuerierRefusals = ({ querier }: ProtocolConfig<'mld-querier'>): Refusal[] => {
  const { version, responseMs, lastMemberMs, queryIntervalSec } = querier;
  const maxMs = version === 1 ? maxMldResponseMs[1] : maxMldResponseMs[2];
  return asked([
    [responseMs > maxMs, '/querier/responseMs', `version ${version} has ${maxMs} at most`],
    [lastMemberMs > maxMs, '/querier/lastMemberMs', `version ${version} has ${maxMs} at most`],
    [responseMs >= queryIntervalSec * 1000, '/querier/responseMs', 'must be less than the time between queries'],
  ]);
};

/** Groups of the link itself, up to 224.0.0.255, are never reported. */
const isReported4 = (address: string): boolean => isGroup(address) && !address.startsWith('224.0.0.');
const isReported6 = (address: string): boolean => /^ff[0-9a-f][2-9a-f]:/i.test(address);
/** 239.255.255.255 */
const lastGroup = 0xefffffff;

const wordOf = (address: string): number => address.split('.').reduce((value, part) => value * 256 + Number(part), 0);

const hostRefusals = (
  { host, zapping, join }: ProtocolConfig<'igmp'> | ProtocolConfig<'mld'>,
  { recordVersion, isReported }: { recordVersion: number; isReported: (address: string) => boolean },
): Refusal[] =>
  asked([
    [host.version < recordVersion && host.sources.length > 0, '/host/sources', 'the version has no sources'],
    [host.filter === 'include' && host.sources.length === 0, '/host/filter', 'include needs sources to join'],
    [!isReported(host.groupStart), '/host/groupStart', 'is no multicast group that hosts report'],
    [
      zapping.intervalSec > 0 && host.groupCount <= join.groupsPerHost,
      '/zapping/intervalSec',
      'there is no other group to change to',
    ],
  ]);

const igmpRefusals = (config: ProtocolConfig<'igmp'>): Refusal[] => {
  const { groupStart, groupCount, groupStep } = config.host;
  const last = wordOf(groupStart) + (groupCount - 1) * groupStep;
  return [
    ...hostRefusals(config, { recordVersion: 3, isReported: isReported4 }),
    ...asked([[last > lastGroup, '/host/groupCount', 'the last group has no address']]),
  ];
};

const mldRefusals = (config: ProtocolConfig<'mld'>): Refusal[] =>
  hostRefusals(config, { recordVersion: 2, isReported: isReported6 });

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

const bfdRefusals = (config: ProtocolConfig<'bfd'>): Refusal[] => {
  const { kind: session, echoMs } = config.session;
  return [
    ...asked([[session !== 'single-hop' && echoMs > 0, '/session/echoMs', 'echoes belong to neighbours on the link']]),
    ...bfdKeyRefusals(config),
  ];
};

const bfdKeyRefusals = ({ authentication: { kind, key, keyId } }: ProtocolConfig<'bfd'>): Refusal[] => {
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

const lastTunnel = 0xffff;

const tpRefusals = ({ path }: ProtocolConfig<'mpls-tp'>, { profiles, routers }: EntryOfRouters): Refusal[] => {
  const all = path.count * Math.ceil(routers / (profiles['mpls-tp']?.length ?? 1));
  return asked([
    [path.tunnelIdStart + all - 1 > lastTunnel, '/path/count', 'the last path has no number'],
    [
      Math.max(path.labelInStart, path.labelOutStart) + all - 1 > lastLabel,
      '/path/count',
      'the last path has no label',
    ],
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
  igmp: igmpRefusals,
  'igmp-querier': querierRefusals,
  isis: isisRefusals,
  ldp: (config: ProtocolConfig<'ldp'>) => [...signatureRefusals(config), ...ldpRefusals(config)],
  'link-oam': linkOamRefusals,
  mld: mldRefusals,
  'mld-querier': mldQuerierRefusals,
  mldp: overLdpRefusals.mldp,
  'mpls-tp': tpRefusals,
  'mpls-oam': overLdpRefusals['mpls-oam'],
  ospf: ospfRefusals,
  pim: pimRefusals,
  pseudowire: overLdpRefusals.pseudowire,
  rip: ripRefusals,
  vpls: overLdpRefusals.vpls,
  vpws: vpwsRefusals,
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
