import { type Static, Type } from 'typebox';
import { word } from '../../word.ts';

const closed = { additionalProperties: false } as const;

const Profiles = Type.Record(
  Type.String(),
  Type.Array(Type.Unknown({ description: 'Validated against the profile of the protocol, defaults applied.' })),
  { description: 'Profiles by protocol, in the order of the task.' },
);

/** One entry of `accessPlane` for the engine `plane.access`. */
export const AccessPlaneConfig = Type.Object(
  {
    role: word(['client', 'server']),
    groupId: Type.Integer({ minimum: 0 }),
    carriesTraffic: Type.Optional(
      Type.Boolean({ description: 'Sessions carry traffic of other jobs: they are set up before the start.' }),
    ),
    entry: Type.Integer({ minimum: 0, description: 'Index in `accessPlane`.' }),
    roleName: Type.String({ description: 'The `role` of the entry; empty: none.' }),
    interfaces: Type.Array(Type.String(), { minItems: 1, description: 'Names of interfaces.' }),
    profiles: Profiles,
  },
  closed,
);
export type AccessPlaneConfig = Static<typeof AccessPlaneConfig>;

/** One entry of `controlPlane` for the engine `plane.control`. */
export const ControlPlaneConfig = Type.Object(
  {
    role: word(['client', 'server']),
    entry: Type.Integer({ minimum: 0, description: 'Index in `controlPlane`.' }),
    interfaces: Type.Array(Type.Array(Type.String(), { minItems: 1 }), {
      minItems: 1,
      description: 'Names of interfaces, a group for each emulated router.',
    }),
    profiles: Profiles,
  },
  closed,
);
export type ControlPlaneConfig = Static<typeof ControlPlaneConfig>;

/** Protocols that emulated routers can run. */
export const controlProtocols: readonly string[] = [
  'bfd',
  'bgp',
  'evpn',
  'fec129',
  'igmp',
  'igmp-querier',
  'isis',
  'ldp',
  'link-oam',
  'mld',
  'mld-querier',
  'mldp',
  'mpls-oam',
  'mpls-tp',
  'ospf',
  'pim',
  'pseudowire',
  'rip',
  'vpls',
  'vpws',
];

/** Actions on the emulated sessions, routers or links of a job that runs. */
export const planeActions = [
  'start',
  'stop',
  'restart',
  'join',
  'leave',
  'linkDown',
  'linkUp',
  'announce',
  'withdraw',
  'disconnect',
  'list',
] as const;

export const PlaneCommand = Type.Object(
  {
    action: word(planeActions),
    from: Type.Optional(Type.Integer({ minimum: 0, description: 'First row of the table; default: the first.' })),
    to: Type.Optional(Type.Integer({ minimum: 0, description: 'Last row of the table; default: the last.' })),
    values: Type.Optional(
      Type.Array(Type.String({ maxLength: 256 }), {
        maxItems: 10_000,
        description: 'Multicast groups, prefixes or interfaces; default: all.',
      }),
    ),
    isObserved: Type.Optional(
      Type.Boolean({ description: 'The command is for a job of a plane: this one records when it was given.' }),
    ),
  },
  closed,
);
export type PlaneCommand = Static<typeof PlaneCommand>;
