import { type Static, Type } from 'typebox';
import { allRoute, crudRoutes } from '../crud.ts';
import { ListQuery, OneOf } from '../envelopes.ts';
import { collection } from '../route.ts';
import { Description, Id, Name, Tags, Timestamp } from '../scalars.ts';
import { Reference } from './network-usage.ts';
import { Issuer } from './users.ts';

const kinds = ['address', 'range', 'oui'] as const;

export const MacDraft = Type.Object({
  name: Name,
  kind: Type.Optional(
    OneOf(kinds, {
      default: 'address',
      description: 'One address, `count` addresses from `address` on, or the addresses under an OUI',
    }),
  ),
  address: Type.String({
    minLength: 1,
    maxLength: 32,
    description: 'Unicast, in any common spelling; an OUI has three to five octets. Reads back as 02:1a:4c:00:00:01',
  }),
  count: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2 ** 40,
      description: 'Addresses: 1 for an address, required for a range; without it an OUI stands for all it has',
    }),
  ),
  vendor: Type.Optional(
    Type.String({ maxLength: 128, description: 'Maker; looked up for some well-known prefixes when left out' }),
  ),
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
});
export type MacDraft = Static<typeof MacDraft>;

export const Mac = Type.Object(
  {
    id: Id,
    name: Type.String(),
    kind: OneOf(kinds),
    address: Type.String(),
    count: Type.Integer(),
    vendor: Type.String(),
    description: Type.String(),
    tags: Type.String(),
    issuerID: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    issuer: Issuer,
    usedBy: Type.Optional(
      Type.Array(Reference, { description: 'Networks and others that use it, at most 100; only in the single record' }),
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Mac' },
);
export type Mac = Static<typeof Mac>;

const keys = ['id', 'name', 'kind', 'address', 'count', 'vendor', 'createdAt', 'updatedAt'] as const;
const names = { path: '/macs', noun: 'MAC record', item: Mac, read: 'macs.read' } as const;

export const macs = collection({
  tag: 'macs',
  title: 'MAC addresses',
  routes: {
    ...crudRoutes({
      ...names,
      draft: MacDraft,
      query: ListQuery(keys, { kind: Type.Optional(OneOf(kinds)) }),
      write: 'macs.write',
    }),
    all: allRoute(names),
  },
});
