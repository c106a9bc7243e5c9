import type { ProtocolConfig } from '@rushhour/contract';

/** Pointer into the profile and why its value cannot be done. */
type Refusal = readonly [pointer: string, message: string];

const asked = (cases: readonly (readonly [boolean, ...Refusal])[]): Refusal[] =>
  cases.flatMap(([isAsked, pointer, message]) => (isAsked ? [[pointer, message] as const] : []));

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

const refusals: Readonly<Record<string, (config: never) => Refusal[]>> = {
  'igmp-querier': querierRefusals,
  ospf: ospfRefusals,
  rip: ripRefusals,
};

const isWatched = (config: unknown): boolean =>
  (config as { readonly interface?: { readonly bfd?: boolean } }).interface?.bfd === true;

/** Members of a profile of the control plane that contradict others. `hasBfd`: the entry has profiles of BFD. */
export const controlRefusals = (protocol: string, config: unknown, hasBfd: boolean): readonly Refusal[] => [
  ...(refusals[protocol]?.(config as never) ?? []),
  ...(isWatched(config) && !hasBfd ? [['/interface/bfd', 'needs a profile of BFD in the entry'] as const] : []),
];
