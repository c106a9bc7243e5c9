import { sql } from 'kysely';
import type { Database, Executor } from '../engine/database.ts';
import { inTexts, jsonRows } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

export interface StoredLine {
  agentID: number;
  runID: number | null;
  /** Milliseconds since 1970. */
  ts: number;
  level: string;
  source: string;
  message: string;
}

const dayMs = 86_400_000;

export const agentLogs = createTable('agentLogs', {
  search: ['message', 'source'],
  filters: {
    agentID: (id: number) => sql`${sql.ref('t.agentID')} = ${id}`,
    /** One of these levels, as a JSON text. */
    levels: (levels: string, engine) => inTexts('t.level', levels, engine),
    since: (ts: number) => sql`t.ts >= ${ts}`,
  },
});

const columns = {
  agentID: 'bigint',
  runID: 'bigint',
  ts: 'bigint',
  level: 'text',
  source: 'text',
  message: 'text',
} as const;
const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
const insert = statement((db, p: { rows: string }, engine) => ({
  compile: () =>
    sql<object>`insert into ${sql.table('agentLogs')} (${names}) select ${names} from ${jsonRows(p.rows, 'line', columns, engine)}`.compile(
      db,
    ),
}));
const remove = statement((db, p: { before: number }) => db.deleteFrom('agentLogs').where('ts', '<', p.before));

/** Lines of any number of agents in one statement. */
export const keepLogs = (tx: Executor, lines: readonly StoredLine[]) => insert.all(tx, { rows: JSON.stringify(lines) });

/** Deletes lines older than `days`. */
export const sweepLogs = (database: Database, days: number) =>
  database.transaction((tx) => remove.all(tx, { before: Date.now() - days * dayMs }));
