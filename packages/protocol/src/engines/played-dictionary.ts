import { type Static, Type } from 'typebox';

/** A whole dictionary that an engine draws from. */
export const PlayedDictionary = Type.Object(
  {
    id: Type.Integer(),
    type: Type.String(),
    selection: Type.String(),
    columns: Type.Array(Type.String(), { default: [] }),
    rows: Type.Array(Type.Array(Type.String()), { default: [] }),
    values: Type.Array(Type.String(), { default: [] }),
    config: Type.Record(Type.String(), Type.Object({}, { additionalProperties: true }), { default: {} }),
  },
  { additionalProperties: false },
);
export type PlayedDictionary = Static<typeof PlayedDictionary>;
