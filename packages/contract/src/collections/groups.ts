import { type Static, Type } from 'typebox';
import { crudRoutes } from '../crud.ts';
import { IdParams, OffsetQuery } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id, Name, NullableInteger, NullableTimestamp, Timestamp } from '../scalars.ts';
import { Component, optional } from '../schema.ts';
import { GroupPermission, Issuer, LightUser } from './users.ts';

export const GroupDraft = Type.Object({
  name: Name,
  permissions: optional.array(GroupPermission, { maxItems: 500, description: 'What members may do' }),
});

export const Group = Component('Group', {
  id: Id,
  name: Type.String(),
  issuerID: NullableInteger,
  issuer: Issuer,
  permissions: Type.Array(GroupPermission),
  users: Type.Array(LightUser),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  deletedAt: NullableTimestamp,
});
export type Group = Static<typeof Group>;

export const groups = collection({
  tag: 'groups',
  title: 'Groups',
  routes: {
    ...crudRoutes({
      path: '/groups',
      noun: 'group',
      item: Group,
      draft: GroupDraft,
      query: OffsetQuery,
      permissions: 'groups',
    }),
    get: route('GET /groups/:id', {
      summary: 'Get a group',
      access: 'groups.read',
      params: IdParams,
      reply: Group,
      errors: [404],
    }),
    remove: route('DELETE /groups/:id', {
      summary: 'Delete a group',
      access: 'groups.write',
      params: IdParams,
      errors: [404, 409],
    }),
  },
});
