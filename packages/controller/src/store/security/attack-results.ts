import type { AttackResult } from '@rushhour/contract';
import { sql } from 'kysely';
import { integer, type RecordOf, real } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { jsonRows } from '../engine/expressions.ts';
import { decoderOf, encodeRow } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import { tables } from '../tables/index.ts';

/**
 * Whether an attempt was made from this signature: replayed, played whole by a test of a web application firewall, or
 * harmless because it is expected to pass. The other attempts of such tests may name dictionaries by the same number.
 */
export const isOfSignature = (id: unknown, column: (name: string) => string = (name) => name) => {
  const at = (name: string) => sql.ref(column(name));
  return sql<boolean>`(${at('refID')} = ${id} and (${at('kind')} = 'cve'
    or (${at('kind')} = 'waf' and ${at('variant')} like 'plain/signature%')
    or (${at('kind')} = 'benign' and ${at('category')} <> 'dictionary')))`;
};

/** A result as it is kept: with its run, the device and the evidence. */
export type StoredAttackResult = RecordOf<typeof tables.attackResults>;

export interface AttackFilters {
  runID: number;
  taskID: number;
  kind: string;
  refID: number;
  signatureID: number;
  outcome: string;
  device: string;
  variant: string;
  from: string;
  to: string;
}

const equals = (column: string) => (value: unknown) => sql`${sql.ref(`t.${column}`)} = ${value}`;

const results = createTable<'attackResults', unknown, AttackFilters>('attackResults', {
  search: ['refName', 'variant', 'reason'],
  filters: {
    runID: equals('runID'),
    taskID: equals('taskID'),
    kind: equals('kind'),
    refID: equals('refID'),
    signatureID: (id) => isOfSignature(id, (name) => `t.${name}`),
    outcome: equals('outcome'),
    device: equals('device'),
    variant: equals('variant'),
    from: (time) => sql`${sql.ref('t.startedAt')} >= ${time}`,
    to: (time) => sql`${sql.ref('t.startedAt')} < ${time}`,
  },
  heavy: ['excerpt'],
});

export interface AttackPage {
  readonly filters: { [K in keyof AttackFilters]?: AttackFilters[K] | undefined };
  readonly limit: number;
  readonly offset: number;
  readonly key?: string;
  readonly order?: 'asc' | 'desc';
  readonly search?: string | undefined;
}

/** As the interface shows it. */
export const shownResult = ({ runID: _, category: __, device: ___, excerpt: ____, ...result }: StoredAttackResult) =>
  result as AttackResult;

/** Results of attempts, newest first by default; `total` counts all matches. */
export const listAttackResults = (
  read: Executor,
  { key = 'id', order = 'desc', ...page }: AttackPage,
): Promise<{ rows: StoredAttackResult[]; total: number }> => results.page(read, { ...page, key, order });

const columns = Object.fromEntries(
  Object.entries(tables.attackResults)
    .filter(([name]) => name !== 'id')
    .map(([name, column]) => [name, column === integer ? 'bigint' : column === real ? 'double precision' : 'text']),
) as Record<string, 'bigint' | 'double precision' | 'text'>;
const names = Object.keys(columns);

const insertMany = statement((db, p: { rows: string }, engine) =>
  db
    .insertInto('attackResults')
    .columns(names as never)
    .expression(
      sql<never>`select ${sql.join(names.map((name) => sql.ref(name)))} from ${jsonRows(p.rows, 'n', columns, engine)}` as never,
    ),
);
const drop = statement((db, p: { runID: number }) => db.deleteFrom('attackResults').where('runID', '=', p.runID));
const rowsAtOnce = 500;

/** Replaces the stored results of the attempts of a run. */
export const setAttackResults = async (
  tx: Executor,
  runID: number,
  all: readonly Omit<StoredAttackResult, 'id' | 'runID'>[],
) => {
  await drop.all(tx, { runID });
  for (let at = 0; at < all.length; at += rowsAtOnce) {
    const rows = all.slice(at, at + rowsAtOnce).map((result) => encodeRow(tables.attackResults, { ...result, runID }));
    await insertMany.all(tx, { rows: JSON.stringify(rows) });
  }
};

const ofRun = statement((db, p: { runID: number }) =>
  db.selectFrom('attackResults').selectAll().where('runID', '=', p.runID).orderBy('id'),
);
const decode = decoderOf(tables.attackResults) as (row: object) => StoredAttackResult;

/** All results of a run, in the order of the attempts. */
export const attackResultsOf = async (read: Executor, runID: number): Promise<StoredAttackResult[]> =>
  (await ofRun.all(read, { runID })).map((row) => decode(row));

const baseline = statement((db, p: { taskID: number; id: number }) =>
  db
    .selectFrom('runs')
    .select('id')
    .where('taskID', '=', p.taskID)
    .where('id', '<', p.id)
    .where('status', '>=', 7)
    .where(sql<boolean>`exists (select 1 from "attackResults" a where a."runID" = ${sql.ref('runs.id')})`)
    .orderBy('pinned', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
);
/** The run that this one is compared with: the last pinned one of the task before it, else the last one. */
export const baselineOf = async (read: Executor, { taskID, id }: { taskID: number; id: number }) =>
  (await baseline.first(read, { taskID, id }))?.id;
