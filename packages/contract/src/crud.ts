import type { TObject } from 'typebox';
import { createBody, patchBody } from './bodies.ts';
import { IdParams, Ids, ManyIds, NewId, One, Page } from './envelopes.ts';
import type { Permission } from './permissions.ts';
import { route } from './route.ts';

/** Tags whose permissions include `<tag>.read` and `<tag>.write`. */
type CrudTag = { [P in Permission]: P extends `${infer Tag}.write` ? Tag : never }[Permission];

interface CrudOptions<Item extends TObject, Draft extends TObject, Query extends TObject> {
  path: string;
  /** The record in the singular, for summaries. */
  noun: string;
  item: Item;
  draft: Draft;
  query: Query;
  /** Prefix of the permissions `<tag>.read` and `<tag>.write`. */
  permissions: CrudTag;
}

/** The five routes almost every collection has. A collection spreads them and replaces the ones that differ. */
export const crudRoutes = <Item extends TObject, Draft extends TObject, Query extends TObject>(
  options: CrudOptions<Item, Draft, Query>,
) => {
  const { path, noun, item, draft, query, permissions } = options;
  const record = `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
  const [read, write] = [`${permissions}.read`, `${permissions}.write`] as const;
  return {
    list: route(`GET ${path}`, { summary: `List ${noun}s`, access: read, query, reply: Page(item) }),
    create: route(`POST ${path}`, {
      summary: `Create ${record}`,
      access: write,
      body: createBody(draft, item),
      reply: NewId,
      errors: [409],
    }),
    update: route(`PATCH ${path}`, {
      summary: `Update ${record}`,
      access: write,
      body: patchBody(draft, item),
      errors: [404, 409],
    }),
    removeMany: route(`DELETE ${path}`, {
      summary: `Delete ${noun}s, all or none`,
      access: write,
      body: ManyIds,
      reply: Ids,
      errors: [404, 409],
    }),
    get: route(`GET ${path}/:id`, {
      summary: `Get ${record}`,
      access: read,
      params: IdParams,
      reply: One(item),
      errors: [404],
    }),
  };
};

/** The unpaged list of light records. */
export const allRoute = <Item extends TObject>({
  path,
  noun,
  item,
  permissions,
}: Pick<CrudOptions<Item, TObject, TObject>, 'path' | 'noun' | 'item' | 'permissions'>) =>
  route(`GET ${path}/all`, { summary: `All ${noun}s, light`, access: `${permissions}.read`, reply: Page(item) });
