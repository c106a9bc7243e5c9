import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { allRoute, crudRoutes } from '../../crud.ts';
import { Data, IdParams, Issue, ListQuery } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id, Name, NullableInteger } from '../../scalars.ts';
import { Component, Nullable, OneOf, optional, strict } from '../../schema.ts';
import { usageRoute } from '../usage.ts';
import { authored } from '../users.ts';
import {
  AddressPage,
  MacPolicyPatch,
  PreviewPage,
  PreviewQuery,
  policyMembers,
  StoredMacPolicy,
} from './mac-policy.ts';

const NetworkType = Type.Unsafe<number>({
  type: 'integer',
  enum: [1, 2, 3],
  description: '1 client, 2 server, 3 both',
});
const IpVersion = Type.String({ pattern: '^([iI][pP])?[vV]?[46]$', description: '"4" or "6"; "ipv4" and "ipv6" too' });
const gatewayMacModes = ['arp', 'static', 'mac'] as const;

export const NetworkDraft = Type.Object({
  name: Name,
  type: Type.Optional(Type.Unsafe<number>({ ...NetworkType, default: 3 })),
  ipVersion: optional.described(IpVersion, 'Must agree with `subnet`'),
  subnet: Type.String({ minLength: 1, maxLength: 64, description: 'CIDR such as 10.0.0.0/16 or 2001:db8::/64' }),
  gateway: optional.text(64, 'In the subnet; in IPv6 it may be link-local'),
  gatewayMac: optional.text(32, 'Used by the mode `static`'),
  gatewayMacId: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'MAC record used by the mode `mac`; 0 and null: none',
      }),
    ),
  ),
  gatewayMacMode: optional.oneOf([...gatewayMacModes, ''], {
    description:
      'Asked by ARP or neighbour discovery, `gatewayMac`, or `gatewayMacId`; without it what is given decides',
  }),
  excludes: optional.array(Type.String({ maxLength: 128 }), {
    maxItems: 10_000,
    description: 'Addresses no client may use: 10.0.0.5, 10.0.0.10-10.0.0.20 or 10.0.0.64/26',
  }),
  pattern: optional.text(1024, 'Selects addresses: 10.0.*.1-50, 10.0.1,3.0-254/2, 2001:db8::*:1'),
  ports: optional.text(4096, 'Such as 80,8000-8100; all when empty'),
  spoofing: optional.flag('Sources need not belong to an interface', false),
  ...policyMembers,
});
export type NetworkDraft = Static<typeof NetworkDraft>;

export const Network = Component('Network', {
  id: Id,
  name: Type.String(),
  type: NetworkType,
  ipVersion: Type.String(),
  subnet: Type.String(),
  gateway: Type.String(),
  gatewayMac: Type.String(),
  gatewayMacId: NullableInteger,
  gatewayMacMode: OneOf(gatewayMacModes),
  excludes: Type.Array(Type.String()),
  pattern: Type.String(),
  ports: Type.String(),
  spoofing: Type.Boolean(),
  ...authored,
});
export type Network = Static<typeof Network>;

type Loose<T> = { [K in keyof T]?: T[K] | null };
/** A draft to validate or preview: only the subnet is required. */
export type LooseNetwork = Loose<Omit<NetworkDraft, 'subnet'>> & { id?: number | null; subnet: string };

const NetworkCheck = Component('NetworkCheck', {
  valid: Type.Boolean({ description: 'No issue is an error' }),
  issues: Type.Array(
    Component('NetworkIssue', {
      ...Issue.properties,
      severity: OneOf(['error', 'warning'], { description: 'A warning leaves the network usable' }),
      networkID: optional.described(Id, 'The stored network it overlaps'),
    }),
  ),
  size: Type.Number({ description: 'Addresses of the subnet' }),
  usable: Type.Number({ description: 'Addresses that clients may use' }),
});

const keys = ['id', 'name', 'type', 'ipVersion', 'subnet', 'createdAt', 'updatedAt'] as const;
const names = { path: '/networks', noun: 'network', item: Network, permissions: 'networks' } as const;

export const networks = collection({
  tag: 'networks',
  title: 'Networks',
  routes: {
    ...crudRoutes({
      ...names,
      draft: NetworkDraft,
      query: ListQuery(keys, { ipVersion: Type.Optional(IpVersion), type: Type.Optional(NetworkType) }),
    }),
    all: allRoute(names),
    preview: route('POST /networks/mac-policy/preview', {
      summary: 'Addresses and MACs of a draft, page by page',
      access: 'networks.read',
      query: PreviewQuery,
      body: looseBody(PreviewQuery),
      reply: PreviewPage,
    }),
    macPolicy: route('GET /networks/:id/mac-policy', {
      summary: 'MAC policy and overrides of a network',
      access: 'networks.read',
      params: IdParams,
      reply: Data(StoredMacPolicy),
      errors: [404],
    }),
    updateMacPolicy: route('PATCH /networks/mac-policy', {
      summary: 'Set the MAC policy and overrides of a network',
      access: 'networks.write',
      body: MacPolicyPatch,
      reply: Data(Type.Object({ l2PolicyVersion: Type.Integer() })),
      errors: [404, 409],
    }),
    addresses: route('GET /networks/:id/addresses', {
      summary: 'Addresses of a network, their MACs and who holds them, page by page',
      access: 'networks.read',
      params: IdParams,
      query: PreviewQuery,
      reply: AddressPage,
      errors: [404],
    }),
    validate: route('POST /networks/validate', {
      summary: 'Check a draft; overlaps with stored networks are warnings',
      access: 'networks.read',
      body: looseBody(Type.Object({})),
      reply: Data(NetworkCheck),
    }),
    usage: usageRoute('/networks', 'network', 'networks.read'),
  },
});

function looseBody<Extra extends TObject>(extra: Extra) {
  const members = { ...NetworkDraft.properties, name: Type.String({ maxLength: 128 }), ...extra.properties };
  const readOnly = Object.keys(Network.properties).map((name) => [name, { readOnly: true }]);
  const loose = Object.entries(members as Record<string, TSchema>).map(([name, schema]) => [name, nullable(schema)]);
  return Type.Unsafe<LooseNetwork & Loose<Static<Extra>>>({
    type: 'object',
    properties: {
      ...Object.fromEntries([...readOnly, ...loose]),
      id: {
        type: ['integer', 'null'],
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The stored network this draft is meant for',
      },
      subnet: NetworkDraft.properties.subnet,
    },
    required: ['subnet'],
    ...strict,
  });
}

function nullable(schema: TSchema) {
  const { type, enum: values } = schema as { type?: string | string[]; enum?: unknown[] };
  return {
    ...schema,
    type: [...new Set([type, 'null'].flat())],
    ...(values && { enum: [...values, null] }),
    default: undefined,
  };
}
