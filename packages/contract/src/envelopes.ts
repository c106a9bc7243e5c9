import { type TProperties, type TSchema, Type } from 'typebox';
import { Id } from './scalars.ts';
import { Component, optional, StrictComponent } from './schema.ts';

export const Cursor = Component('Cursor', {
  count: Type.Integer(),
  currentPage: Type.Integer(),
  totalPages: Type.Number(),
  totalRows: Type.Number(),
});

export const Page = <T extends TSchema>(item: T) => Type.Object({ cursor: Cursor, data: Type.Array(item) });

/** One record in the same envelope as a list. */
export const One = <T extends TSchema>(item: T) => Type.Object({ cursor: Cursor, data: item });

export const Data = <T extends TSchema>(data: T) => Type.Object({ data });

export const NewId = Data(Id);

export const ManyIds = StrictComponent('ManyIDs', {
  array: Type.Array(Id, { minItems: 1, maxItems: 1000, uniqueItems: true, description: 'Ids of the records' }),
});

export const Ids = Data(Type.Array(Id));

/** Outcome of a bulk action for each record. */
export const BulkResult = Data(
  Type.Array(
    Component('BulkItem', {
      id: Id,
      ok: Type.Boolean(),
      error: Type.Optional(Type.String()),
      code: Type.Optional(Type.String()),
    }),
  ),
);

export const IdParams = Type.Object({ id: Id });

export const OffsetQuery = Type.Object({
  count: Type.Integer({ minimum: 10, maximum: 100, description: 'Rows on a page' }),
  offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Rows to skip' }),
});

/** Query of a paged list: paging, sorting by one of `keys`, search, and the list's own filters. */
export const ListQuery = <const Keys extends readonly [string, ...string[]], Filters extends TProperties>(
  keys: Keys,
  filters: Filters,
) =>
  Type.Object({
    count: optional.integer([1, 100], 'Rows on a page', 20),
    page: optional.integer([1, 1e9], 'Page, from 1', 1),
    key: optional.oneOf(keys, { default: keys[0], description: 'Sort by' }),
    order: optional.oneOf(['asc', 'desc'], { default: 'desc' }),
    search: optional.text(200, 'Part of a text, upper and lower case alike'),
    ...filters,
  });

export const Issue = Component('Issue', {
  path: Type.String({ description: 'JSON pointer into the body, or into the part named by `in`' }),
  in: optional.oneOf(['path', 'query', 'header']),
  code: Type.String(),
  message: Type.String(),
});

export const ErrorBody = Component('Error', {
  data: Type.Object(
    { code: Type.String(), requestId: Type.String(), issues: optional.array(Issue) },
    { additionalProperties: true },
  ),
  error: Type.String({ description: 'One plain sentence' }),
});
