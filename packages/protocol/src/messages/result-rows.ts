import { type Static, Type } from 'typebox';
import { amount, count, long, short } from '../bounds.ts';
import { word } from '../word.ts';

const closed = { additionalProperties: false } as const;

/**
 * Tables of a run beside its metrics. `exchanges` are requests with their answers, `keys` lines of Wireshark's tables, `ike`,
 * `esp` or `tls` by state.
 */
export const resultTables = [
  ...(['sessions', 'neighbours', 'routes', 'sas', 'tunnels', 'ports', 'flows', 'exchanges'] as const),
  'keys',
] as const;
export type ResultTable = (typeof resultTables)[number];

/** One row: a session, a neighbour, a security association. A later row with the same index replaces it. */
export const ResultRow = Type.Object(
  {
    index: count({ description: 'Identifies the row within the table of a job.' }),
    state: short({ description: 'Such as `established`; rows are counted and filtered by it.' }),
    cells: Type.Record(Type.String({ maxLength: 64 }), Type.Union([long(), amount(), Type.Null()]), {
      maxProperties: 64,
    }),
  },
  closed,
);
export type ResultRow = Static<typeof ResultRow>;

/** Maximum number of rows in one record. */
export const maxRowsPerRecord = 200;

/** Rows of one table that have changed. */
export const RowsRecord = Type.Object(
  {
    side: Type.Literal('rows'),
    table: word(resultTables),
    rows: Type.Array(ResultRow, { minItems: 1, maxItems: maxRowsPerRecord }),
  },
  closed,
);
export type RowsRecord = Static<typeof RowsRecord>;
