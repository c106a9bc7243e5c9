import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { Id, Timestamp } from './scalars.ts';
import { optional, StrictObject } from './schema.ts';

type Patch<Draft extends TObject> = { id: number; updatedAt?: string } & {
  [K in keyof Static<Draft>]?: Static<Draft>[K] | null;
};

const readOnlyOf = (item: TObject, draft: TObject) =>
  Object.fromEntries(
    Object.keys(item.properties)
      .filter((name) => !(name in draft.properties))
      .map((name) => [name, Type.Optional(Type.Unknown({ readOnly: true }))]),
  );

/**
 * Body of a create: the draft, plus every read-only member of the record, so that a client can send a record
 * back as it read it. Read-only members are dropped before the handler runs.
 */
export const createBody = <Draft extends TObject>(draft: Draft, item: TObject) =>
  Type.Unsafe<Static<Draft>>(StrictObject({ ...draft.properties, ...readOnlyOf(item, draft) }));

/** Body of an update: the id, any members of the draft (`null` clears an optional one), and the version check. */
export const patchBody = <Draft extends TObject>(draft: Draft, item: TObject, idName = 'id') => {
  const required = new Set(draft.required ?? []);
  const members = Object.entries(draft.properties as Record<string, TSchema>).map(([name, schema]) => [
    name,
    Type.Optional(required.has(name) ? schema : Type.Union([schema, Type.Null()])),
  ]);
  return Type.Unsafe<Patch<Draft>>(
    StrictObject({
      ...readOnlyOf(item, draft),
      ...Object.fromEntries(members),
      [idName]: Id,
      updatedAt: optional.described(Timestamp, 'The version you read; 409 when it has changed since'),
    }),
  );
};
