import { type Static, Type } from 'typebox';
import { OneOf } from '../envelopes.ts';
import { Id } from '../scalars.ts';

const closed = { additionalProperties: false } as const;
const MacText = Type.String({ maxLength: 32 });

export const MacPolicy = Type.Object(
  {
    mode: OneOf(['interface', 'shared', 'perIp', 'derived', 'pool', 'random'], {
      description:
        '`interface`: the network card keeps its own. `shared`: one for all: `macId`, else `start`, else one drawn by `seed`. `perIp`: `start` + position × `step`. `derived`: `prefix` and the low bits of the IP address. `pool`: the addresses of `macIds` in turn. `random`: drawn by `seed`, each once.',
    }),
    prefix: Type.Optional(
      Type.String({
        maxLength: 32,
        description: 'One to five leading octets, e.g. 02:1a:4c; the addresses stay under it',
      }),
    ),
    start: Type.Optional(Type.Unsafe<string>({ ...MacText, description: 'First MAC' })),
    step: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 40 - 1, default: 1 })),
    macId: Type.Optional(Type.Unsafe<number>({ ...Id, description: 'MAC record whose first address is shared' })),
    macIds: Type.Optional(Type.Array(Id, { maxItems: 1000, description: 'MAC records of the pool' })),
    seed: Type.Optional(
      Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        maxLength: 128,
        description: 'The same seed gives the same addresses; the subnet unless said',
      }),
    ),
  },
  { title: 'MacPolicy', ...closed },
);
export type MacPolicy = Static<typeof MacPolicy>;

export const MacOverride = Type.Object(
  {
    ip: Type.String({ maxLength: 64, description: 'An address of the network' }),
    mac: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 32 })),
    macId: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'MAC record whose first address is taken, instead of `mac`',
      }),
    ),
    comment: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { title: 'MacOverride', ...closed },
);
export type MacOverride = Static<typeof MacOverride>;

// A type list instead of a union: the problems of a policy are then reported without those of "must be null".
const MaybeMacPolicy = Type.Unsafe<MacPolicy | null>({
  ...MacPolicy,
  type: ['object', 'null'],
  title: undefined,
  description: 'How addresses get their MACs; null leaves them to the network card',
});

export const policyMembers = {
  macPolicy: Type.Optional(MaybeMacPolicy),
  macOverrides: Type.Optional(
    Type.Array(MacOverride, { maxItems: 10_000, description: 'Addresses that do not follow the policy' }),
  ),
};

/** What a network stores beside its record. */
export const StoredMacPolicy = Type.Object(
  {
    macPolicy: MaybeMacPolicy,
    macOverrides: Type.Array(MacOverride),
    l2PolicyVersion: Type.Integer({ description: 'Counts the changes of policy and overrides' }),
  },
  { title: 'StoredMacPolicy' },
);

export const MacPolicyPatch = Type.Object(
  {
    id: Id,
    macPolicy: policyMembers.macPolicy,
    macOverrides: Type.Optional(
      Type.Unsafe<MacOverride[] | null>({ ...policyMembers.macOverrides, type: ['array', 'null'] }),
    ),
    l2PolicyVersion: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The version you read; 409 when it has changed since' }),
    ),
  },
  closed,
);

export const PreviewQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Rows on a page, 100 unless said' })),
  page: Type.Optional(Type.Integer({ minimum: 1, description: 'Page, from 1' })),
  start: Type.Optional(
    Type.String({ maxLength: 64, description: 'Address the page begins with, e.g. `nextStart`; wins over `page`' }),
  ),
});

const previewRow = {
  ip: Type.String(),
  mac: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'null: the network card keeps its own' }),
  source: OneOf(['policy', 'override', 'gateway', 'interface']),
  overridden: Type.Boolean(),
};

const pageOf = <Row extends ReturnType<typeof Type.Object>>(rows: Row, title: string) =>
  Type.Object(
    {
      rows: Type.Array(rows),
      nextStart: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'First address of the next page; null at the end',
      }),
      page: Type.Number(),
      limit: Type.Integer(),
      totalRows: Type.Number({ description: 'Rounded beyond 2^53, as JSON numbers are; `nextStart` is exact' }),
      totalPages: Type.Number(),
    },
    { title },
  );

export const PreviewPage = pageOf(Type.Object(previewRow, { title: 'PreviewRow' }), 'PreviewPage');

const Holder = Type.Object({ agentID: Id, taskID: Id }, { title: 'AddressHolder' });

export const AddressPage = pageOf(
  Type.Object(
    {
      ...previewRow,
      holder: Type.Union([Holder, Type.Null()], { description: 'Agent and task that use the address now' }),
    },
    { title: 'AddressRow' },
  ),
  'AddressPage',
);
