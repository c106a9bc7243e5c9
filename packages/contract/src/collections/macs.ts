import { type Static, Type } from 'typebox';
import { allRoute, crudRoutes } from '../crud.ts';
import { ListQuery } from '../envelopes.ts';
import { collection } from '../route.ts';
import { Description, Id, Name, NullableInteger, Tags, Timestamp } from '../scalars.ts';
import { Component, OneOf, optional } from '../schema.ts';
import { Reference } from './usage.ts';
import { Issuer } from './users.ts';

const kinds = ['address', 'range', 'oui'] as const;

export const MacDraft = Type.Object({
  name: Name,
  kind: optional.oneOf(kinds, {
    default: 'address',
    description: 'One address, `count` addresses from `address` on, or the addresses under an OUI',
  }),
  address: Type.String({
    minLength: 1,
    maxLength: 32,
    description: 'Unicast, in any common spelling; an OUI has three to five octets. Reads back as 02:1a:4c:00:00:01',
  }),
  count: optional.integer(
    [0, 2 ** 40],
    'Addresses: 1 for an address, required for a range; without it an OUI stands for all it has',
  ),
  vendor: optional.text(128, 'Maker; looked up for some well-known prefixes when left out'),
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
});
export type MacDraft = Static<typeof MacDraft>;

export const Mac = Component('Mac', {
  id: Id,
  name: Type.String(),
  kind: OneOf(kinds),
  address: Type.String(),
  count: Type.Integer(),
  vendor: Type.String(),
  description: Type.String(),
  tags: Type.String(),
  issuerID: NullableInteger,
  issuer: Issuer,
  usedBy: optional.array(Reference, {
    description: 'Networks and others that use it, at most 100; only in the single record',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Mac = Static<typeof Mac>;

const keys = ['id', 'name', 'kind', 'address', 'count', 'vendor', 'createdAt', 'updatedAt'] as const;
const names = { path: '/macs', noun: 'MAC record', item: Mac, permissions: 'macs' } as const;

export const macs = collection({
  tag: 'macs',
  title: 'MAC addresses',
  routes: {
    ...crudRoutes({
      ...names,
      draft: MacDraft,
      query: ListQuery(keys, { kind: optional.oneOf(kinds) }),
    }),
    all: allRoute(names),
  },
});
