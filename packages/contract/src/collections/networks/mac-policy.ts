import { type Static, Type } from 'typebox';
import { Id } from '../../scalars.ts';
import { Component, membersFor, Nullable, OneOf, optional, StrictComponent, StrictObject } from '../../schema.ts';

const MacText = Type.String({ maxLength: 32 });

const seed = Type.Optional(
  Type.Unsafe<number | string>({
    type: ['integer', 'string'],
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    maxLength: 128,
    description: 'The same seed gives the same addresses; the subnet unless said',
  }),
);

export const MacPolicy = StrictComponent('MacPolicy', {
  mode: OneOf(['interface', 'shared', 'perIp', 'derived', 'pool', 'random'], {
    description:
      '`interface`: the network card keeps its own. `shared`: one for all, that of a MAC record, the first MAC, or a random one. `perIp`: the first MAC, then one step further for each address. `derived`: a prefix and the low bits of the IP address. `pool`: those of the MAC records in turn. `random`: each once.',
  }),
  ...membersFor(
    { mode: ['shared', 'perIp', 'derived', 'random'] },
    { prefix: optional.text(32, 'One to five leading octets, e.g. 02:1a:4c; the addresses stay under it') },
  ),
  ...membersFor({ mode: ['shared', 'perIp'] }, { start: optional.described(MacText, 'First MAC') }),
  ...membersFor(
    { mode: ['perIp'] },
    { step: optional.integer([1, 2 ** 40 - 1], 'Distance between the MACs of two addresses', 1) },
  ),
  ...membersFor({ mode: ['shared'] }, { macId: optional.described(Id, 'MAC record whose first address is shared') }),
  ...membersFor(
    { mode: ['pool'] },
    { macIds: optional.array(Id, { maxItems: 1000, description: 'MAC records of the pool' }) },
  ),
  ...membersFor({ mode: ['shared', 'random'] }, { seed }),
});
export type MacPolicy = Static<typeof MacPolicy>;

export const MacOverride = StrictComponent('MacOverride', {
  ip: Type.String({ maxLength: 64, description: 'An address of the network' }),
  mac: Type.Optional(Nullable(Type.String({ maxLength: 32 }))),
  macId: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'MAC record whose first address is taken, instead of `mac`',
      }),
    ),
  ),
  comment: optional.text(256),
});
export type MacOverride = Static<typeof MacOverride>;

// A type list instead of a union: the problems of a policy are then reported without those of "must be null".
const MaybeMacPolicy = Type.Unsafe<MacPolicy | null>({
  ...MacPolicy,
  type: ['object', 'null'],
  title: undefined,
  description: 'How addresses get their MACs; without it they have that of the network card',
});

export const policyMembers = {
  macPolicy: Type.Optional(MaybeMacPolicy),
  macOverrides: optional.array(MacOverride, {
    maxItems: 10_000,
    description: 'Addresses that do not follow the policy',
  }),
};

/** The MAC policy of a network, stored apart from its record. */
export const StoredMacPolicy = Component('StoredMacPolicy', {
  macPolicy: MaybeMacPolicy,
  macOverrides: Type.Array(MacOverride),
  l2PolicyVersion: Type.Integer({
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Counts the changes of policy and overrides',
  }),
});

export const MacPolicyPatch = StrictObject({
  id: Id,
  macPolicy: policyMembers.macPolicy,
  macOverrides: Type.Optional(
    Type.Unsafe<MacOverride[] | null>({ ...policyMembers.macOverrides, type: ['array', 'null'] }),
  ),
  l2PolicyVersion: Type.Optional(
    Type.Integer({
      maximum: Number.MAX_SAFE_INTEGER,
      minimum: 0,
      description: 'The version you read; 409 when it has changed since',
    }),
  ),
});

export const PreviewQuery = Type.Object({
  limit: optional.integer([1, 1000], 'Rows on a page, 100 unless said'),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Page, from 1' })),
  start: optional.text(64, 'Address the page begins with, e.g. `nextStart`; wins over `page`'),
});

const previewRow = {
  ip: Type.String(),
  mac: Nullable(Type.String({ description: 'null: the network card keeps its own' })),
  source: OneOf(['policy', 'override', 'gateway', 'interface']),
  overridden: Type.Boolean(),
};

const pageOf = <Row extends ReturnType<typeof Type.Object>>(rows: Row, title: string) =>
  Type.Object(
    {
      rows: Type.Array(rows),
      nextStart: Nullable(Type.String({ description: 'First address of the next page; null at the end' })),
      page: Type.Number(),
      limit: Type.Integer(),
      totalRows: Type.Number({ description: 'Rounded beyond 2^53, as JSON numbers are; `nextStart` is exact' }),
      totalPages: Type.Number(),
    },
    { title },
  );

export const PreviewPage = pageOf(Component('PreviewRow', previewRow), 'PreviewPage');

const Holder = Component('AddressHolder', { agentID: Id, taskID: Id });

export const AddressPage = pageOf(
  Component('AddressRow', {
    ...previewRow,
    holder: Type.Union([Holder, Type.Null()], { description: 'Agent and task that use the address now' }),
  }),
  'AddressPage',
);
