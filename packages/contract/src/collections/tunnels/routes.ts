import { type Static, type TObject, Type } from 'typebox';
import { createBody } from '../../bodies.ts';
import { allRoute, crudRoutes } from '../../crud.ts';
import { Data, Issue, ListQuery, Page } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Description, Id, Name, NullableInteger, Tags } from '../../scalars.ts';
import { Component, Nullable, OneOf, optional } from '../../schema.ts';
import { usageRoute } from '../usage.ts';
import { authored } from '../users.ts';
import { type TunnelType, tunnelParams } from './tunnel-params.ts';

const types = Object.keys(tunnelParams) as TunnelType[];
const Kind = OneOf(types, { description: 'See `GET /tunnels/types`' });
const Params = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 64 });

export const TunnelDraft = Type.Object({
  name: Name,
  type: Kind,
  description: Type.Optional(Description),
  clientIp: optional.text(64, 'The client where `endpoints` leave it out'),
  serverIp: optional.text(64, 'The server where `endpoints` leave it out'),
  endpoints: optional.text(
    16_384,
    'Groups `clients > servers` separated by ";". Both sides are comma lists of addresses, first-last and CIDRs; the n-th client meets the n-th server, the shorter side starting over: 10.0.0.1-10.0.0.50 > 10.9.0.1',
  ),
  count: optional.integer([0, 2 ** 32], 'Tunnels; 0: one for each pair of endpoints', 0),
  mtu: optional.integer([68, 65_535], 'Largest outer packet in bytes', 1500),
  params: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      ...Params,
      description:
        'Members by type, see `GET /tunnels/types`. An update merges them; null removes a member. Secrets read back masked, and the mask keeps them',
    }),
  ),
  certificateID: Type.Optional(
    Nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: '0 and null: none' })),
  ),
  tags: Type.Optional(Tags),
});
export type TunnelDraft = Static<typeof TunnelDraft>;

export const Tunnel = Component('Tunnel', {
  id: Id,
  name: Type.String(),
  type: Kind,
  description: Type.String(),
  clientIp: Type.String(),
  serverIp: Type.String(),
  endpoints: Type.String(),
  count: Type.Integer(),
  mtu: Type.Integer(),
  params: Params,
  certificateID: NullableInteger,
  secretSet: Type.Boolean({ description: 'A secret of `params` is stored' }),
  tags: Type.String(),
  ...authored,
});
export type Tunnel = Static<typeof Tunnel>;

export const TunnelTypeInfo = Component('TunnelType', {
  type: Kind,
  title: Type.String(),
  schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of `params`' }),
  secrets: Type.Array(Type.String(), { description: 'Members of `params` that are write-only' }),
  overheadBytes: Type.Integer({ description: 'What a full packet grows by over IPv4, without options' }),
  overheadBytesIpv6: Type.Integer({ description: 'The same over IPv6' }),
  engines: Type.Array(Type.String(), { description: 'Engines that build it; an agent says which it has' }),
  available: Type.Boolean({ description: 'Agents with emulated hosts can open it' }),
  reason: Type.String({ description: 'Why it is not available' }),
});

const TunnelCheck = Component('TunnelCheck', {
  valid: Type.Boolean({ description: 'No issue is an error' }),
  issues: Type.Array(Component('TunnelIssue', { ...Issue.properties, severity: OneOf(['error', 'warning']) })),
  endpoints: Type.Array(Type.Object({ client: Type.String(), server: Type.String() }), {
    description: 'The first 1000 pairs',
  }),
  count: Type.Number({ description: 'All tunnels' }),
  innerMtu: Type.Integer({ description: 'Largest inner IP packet that is not fragmented' }),
});

const keys = ['id', 'name', 'type', 'count', 'mtu', 'createdAt', 'updatedAt'] as const;
const names = { path: '/tunnels', noun: 'tunnel', item: Tunnel, permissions: 'tunnels' } as const;

export const tunnels = collection({
  tag: 'tunnels',
  title: 'Tunnels',
  routes: {
    ...crudRoutes({
      ...names,
      draft: TunnelDraft,
      query: ListQuery(keys, { type: Type.Optional(Kind) }),
    }),
    all: allRoute(names),
    types: route('GET /tunnels/types', {
      summary: 'Types of tunnels and the JSON Schema of their parameters',
      access: 'tunnels.read',
      reply: Page(TunnelTypeInfo),
    }),
    validate: route('POST /tunnels/validate', {
      summary: 'Check a draft, expand its endpoints, compute the inner MTU',
      access: 'tunnels.read',
      body: checkBody(),
      reply: Data(TunnelCheck),
    }),
    usage: usageRoute('/tunnels', 'tunnel', 'tunnels.read'),
  },
});

/** A draft to validate needs no name; `id` names the tunnel whose stored secrets replace masks. */
function checkBody() {
  const body = createBody(TunnelDraft, Tunnel) as unknown as TObject;
  return Type.Unsafe<Omit<TunnelDraft, 'name'> & { id?: number | null; name?: string | null }>({
    ...body,
    properties: {
      ...body.properties,
      name: { type: ['string', 'null'], maxLength: 128 },
      id: {
        type: ['integer', 'null'],
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The stored tunnel this draft is meant for',
      },
    },
    required: ['type'],
  });
}
