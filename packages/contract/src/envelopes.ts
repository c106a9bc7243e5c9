import { type TProperties, type TSchema, Type } from 'typebox';
import { Id } from './scalars.ts';

export const Cursor = Type.Object(
  { count: Type.Integer(), currentPage: Type.Integer(), totalPages: Type.Number(), totalRows: Type.Number() },
  { title: 'Cursor' },
);

export const Page = <T extends TSchema>(item: T) => Type.Object({ cursor: Cursor, data: Type.Array(item) });

/** One record in the same envelope as a list. */
export const One = <T extends TSchema>(item: T) => Type.Object({ cursor: Cursor, data: item });

export const Data = <T extends TSchema>(data: T) => Type.Object({ data });

export const NewId = Data(Id);

export const ManyIds = Type.Object(
  { array: Type.Array(Id, { minItems: 1, maxItems: 1000, uniqueItems: true, description: 'Ids of the records' }) },
  { title: 'ManyIDs', additionalProperties: false },
);

export const Ids = Data(Type.Array(Id));

/** What happened to each record of a bulk action. */
export const BulkResult = Data(
  Type.Array(
    Type.Object(
      {
        id: Id,
        ok: Type.Boolean(),
        error: Type.Optional(Type.String()),
        code: Type.Optional(Type.String()),
      },
      { title: 'BulkItem' },
    ),
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
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Rows on a page' })),
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1, description: 'Page, from 1' })),
    key: Type.Optional(OneOf(keys, { default: keys[0], description: 'Sort by' })),
    order: Type.Optional(OneOf(['asc', 'desc'], { default: 'desc' })),
    search: Type.Optional(Type.String({ maxLength: 200, description: 'Part of a text, upper and lower case alike' })),
    ...filters,
  });

/** A string out of a fixed set. */
export const OneOf = <const Values extends readonly string[]>(values: Values, options: object = {}) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });

export const Issue = Type.Object(
  {
    path: Type.String({ description: 'JSON pointer into the body, or into the part named by `in`' }),
    in: Type.Optional(OneOf(['path', 'query', 'header'])),
    code: Type.String(),
    message: Type.String(),
  },
  { title: 'Issue' },
);

export const ErrorBody = Type.Object(
  {
    data: Type.Object(
      { code: Type.String(), requestId: Type.String(), issues: Type.Optional(Type.Array(Issue)) },
      { additionalProperties: true },
    ),
    error: Type.String({ description: 'One plain sentence' }),
  },
  { title: 'Error' },
);
