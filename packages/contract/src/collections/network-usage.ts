import { Type } from 'typebox';
import { IdParams, Page } from '../envelopes.ts';
import type { Permission } from '../permissions.ts';
import { route } from '../route.ts';
import { Id } from '../scalars.ts';

/** A record that uses another. */
export const Reference = Type.Object({ kind: Type.String(), id: Id, name: Type.String() }, { title: 'Reference' });

/** The same, and for a task what it is doing. */
export const Usage = Type.Object(
  {
    ...Reference.properties,
    status: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'Status of a task; null for other kinds',
    }),
  },
  { title: 'Usage' },
);

const UsageQuery = Type.Object({
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Rows on a page' })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1, description: 'Page, from 1' })),
});

/** Who uses a record. */
export const usageRoute = (path: string, noun: string, access: Permission) =>
  route({
    method: 'GET',
    path: `${path}/:id/usage`,
    summary: `Tasks, templates and other records that use a ${noun}`,
    access,
    params: IdParams,
    query: UsageQuery,
    reply: Page(Usage),
    errors: [404],
  });
