import type { TObject } from 'typebox';
import { createBody, patchBody } from './bodies.ts';
import { IdParams, Ids, ManyIds, NewId, One, Page } from './envelopes.ts';
import type { Permission } from './permissions.ts';
import { route } from './route.ts';

interface CrudOptions<Item extends TObject, Draft extends TObject, Query extends TObject> {
  path: string;
  /** The record in the singular, for summaries. */
  noun: string;
  item: Item;
  draft: Draft;
  query: Query;
  read: Permission;
  write: Permission;
}

/** The five routes almost every collection has. A collection spreads them and replaces the ones that differ. */
export const crudRoutes = <Item extends TObject, Draft extends TObject, Query extends TObject>(
  options: CrudOptions<Item, Draft, Query>,
) => {
  const { path, noun, item, draft, query, read, write } = options;
  return {
    list: route({ method: 'GET', path, summary: `List ${noun}s`, access: read, query, reply: Page(item) }),
    create: route({
      method: 'POST',
      path,
      summary: `Create a ${noun}`,
      access: write,
      body: createBody(draft, item),
      reply: NewId,
      errors: [409],
    }),
    update: route({
      method: 'PATCH',
      path,
      summary: `Update a ${noun}`,
      access: write,
      body: patchBody(draft, item),
      errors: [404, 409],
    }),
    removeMany: route({
      method: 'DELETE',
      path,
      summary: `Delete ${noun}s, all or none`,
      access: write,
      body: ManyIds,
      reply: Ids,
      errors: [404, 409],
    }),
    get: route({
      method: 'GET',
      path: `${path}/:id`,
      summary: `Get a ${noun}`,
      access: read,
      params: IdParams,
      reply: One(item),
      errors: [404],
    }),
  };
};

/** The unpaged list of light records. */
export const allRoute = <Item extends TObject>(
  options: Pick<CrudOptions<Item, TObject, TObject>, 'path' | 'noun' | 'item' | 'read'>,
) =>
  route({
    method: 'GET',
    path: `${options.path}/all`,
    summary: `All ${options.noun}s, light`,
    access: options.read,
    reply: Page(options.item),
  });
