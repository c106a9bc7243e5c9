import { Type } from 'typebox';
import { IdParams, Page } from '../envelopes.ts';
import type { Permission } from '../permissions.ts';
import { route } from '../route.ts';
import { Id } from '../scalars.ts';
import { Component, Nullable, optional } from '../schema.ts';

/** A record that uses another. */
export const Reference = Component('Reference', { kind: Type.String(), id: Id, name: Type.String() });

/** A reference with the status of the task, if it is one. */
export const Usage = Component('Usage', {
  ...Reference.properties,
  status: Nullable(Type.Integer({ description: 'Status of a task; null for other kinds' })),
});

const UsageQuery = Type.Object({
  count: optional.integer([1, 100], 'Rows on a page', 20),
  page: optional.integer([1, 1e9], 'Page, from 1', 1),
});

/** Lists the records that use a record. */
export const usageRoute = (path: string, noun: string, access: Permission) =>
  route(`GET ${path}/:id/usage`, {
    summary: `Tasks, templates and other records that use a ${noun}`,
    access,
    params: IdParams,
    query: UsageQuery,
    reply: Page(Usage),
    errors: [404],
  });
