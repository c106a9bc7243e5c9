import type { ResultTable } from '@rushhour/protocol';
import { sql } from 'kysely';
import type { RecordOf } from '../engine/column.ts';
import type { Engine, Executor } from '../engine/database.ts';
import { contains, jsonMember, jsonRows, patternOf } from '../engine/expressions.ts';
import { decoderOf } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { tables } from '../tables/index.ts';

/** Tables that the results of a run show. */
export type ShownTable = Exclude<ResultTable, 'keys'>;

/** A row of a table of a run. */
export interface RunRow extends Omit<RecordOf<typeof tables.runRows>, 'tableName'> {
  readonly tableName: ResultTable;
}

const columns = {
  runID: 'bigint',
  tableName: 'text',
  agentID: 'bigint',
  orderIndex: 'bigint',
  rowIndex: 'bigint',
  state: 'text',
  cells: 'text',
} as const;
const names = Object.keys(columns) as (keyof typeof columns)[];

const upsert = statement((db, p: { rows: string }, engine) =>
  db
    .insertInto('runRows')
    .columns(names)
    .expression(
      // Without a condition SQLite takes `on conflict` for that of a join.
      sql<never>`select ${sql.join(names.map((name) => sql.ref(name)))} from ${jsonRows(p.rows, 'given', columns, engine)} where true` as never,
    )
    .onConflict((conflict) =>
      conflict
        .columns(['runID', 'tableName', 'agentID', 'orderIndex', 'rowIndex'])
        .doUpdateSet((eb) => ({ state: eb.ref('excluded.state'), cells: eb.ref('excluded.cells') })),
    ),
);

/** Inserts rows or replaces those with the same key; of several with one key the last counts. */
export const putRunRows = async (tx: Executor, rows: readonly RunRow[]) => {
  if (rows.length === 0) return;
  const newest = new Map(
    rows.map((row) => [[row.runID, row.tableName, row.agentID, row.orderIndex, row.rowIndex].join(), row]),
  );
  const stored = [...newest.values()].map(({ cells, ...row }) => ({ ...row, cells: JSON.stringify(cells) }));
  await upsert.all(tx, { rows: JSON.stringify(stored) });
};

export interface RowFilter {
  readonly runID: number;
  readonly tableName: ResultTable;
  /** 0: all agents. */
  readonly agentID: number;
  /** Empty: all states. */
  readonly state: string;
  /** Empty: all rows. */
  readonly search: string;
  /** Cells with exactly these values; empty: all. */
  readonly router?: string;
  readonly neighbour?: string;
  readonly protocol?: string;
}

const cellNames = ['router', 'neighbour', 'protocol'] as const;
type Filter = RowFilter & Readonly<Record<(typeof cellNames)[number], string>>;

const hasCells = (p: Filter, engine: Engine) =>
  sql.join(
    cellNames.map((name) => sql`(cast(${p[name]} as text) = '' or ${jsonMember('cells', name, engine)} = ${p[name]})`),
    sql` and `,
  );

const isWanted = (p: Filter, engine: Engine) =>
  sql<boolean>`"runID" = ${p.runID} and "tableName" = ${p.tableName}
    and (cast(${p.agentID} as bigint) = 0 or "agentID" = ${p.agentID})
    and (cast(${p.state} as text) = '' or "state" = ${p.state})
    and (cast(${p.search} as text) = '%%' or ${contains('cells', p.search, engine)})
    and ${hasCells(p, engine)}`;

type RowPage = RowFilter & { readonly limit: number; readonly offset: number };
const page = statement((db, p: RowPage & Filter, engine) =>
  db
    .selectFrom('runRows')
    .selectAll()
    .where(isWanted(p, engine))
    .orderBy('agentID')
    .orderBy('orderIndex')
    .orderBy('rowIndex')
    .limit(p.limit)
    .offset(p.offset),
);
const countRows = statement((db, p: Filter, engine) =>
  db.selectFrom('runRows').select(sql<number>`count(*)`.as('total')).where(isWanted(p, engine)),
);
const decode = decoderOf(tables.runRows) as unknown as (row: object) => RunRow;

/** A page of a table of a run. */
export const runRowPage = async (read: Executor, { search, ...given }: RowPage) => {
  const wanted = { router: '', neighbour: '', protocol: '', ...given, search: patternOf(search) };
  const [rows, count] = await Promise.all([page.all(read, wanted), countRows.first(read, wanted)]);
  return { rows: rows.map(decode), total: Number(count?.total ?? 0) };
};

const states = statement((db, p: { runID: number }) =>
  db
    .selectFrom('runRows')
    .select(['tableName', 'state', sql<number>`count(*)`.as('rows')])
    .where('runID', '=', p.runID)
    .where('tableName', '<>', 'keys')
    .groupBy(['tableName', 'state'])
    .orderBy('tableName')
    .orderBy('state'),
);
/** The tables of a run that are shown: how many rows are in which state. */
export const runTableStates = async (read: Executor, runID: number) => {
  const counted = await states.all(read, { runID });
  const byTable = Map.groupBy(counted, ({ tableName }) => tableName as ShownTable);
  return [...byTable].map(([name, found]) => ({
    name,
    rows: found.reduce((sum, { rows }) => sum + Number(rows), 0),
    states: Object.fromEntries(found.map(({ state, rows }) => [state, Number(rows)])),
  }));
};
