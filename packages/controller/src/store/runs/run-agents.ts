import { sql } from 'kysely';
import type { RecordOf } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { jsonRows } from '../engine/expressions.ts';
import { decoderOf, encodeRow } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { type Tables, tables } from '../tables/index.ts';
import type { Writing } from './runs.ts';

export type RunAgentRecord = RecordOf<typeof tables.runAgents>;

const ofRun = statement((db, p: { runID: number }) =>
  db.selectFrom('runAgents').selectAll().where('runID', '=', p.runID).orderBy('agentID'),
);
const columns = {
  ...{ runID: 'bigint', agentID: 'bigint', name: 'text', role: 'text', state: 'text', bootId: 'text' },
  ...{ orders: 'text', error: 'text', updatedAt: 'text' },
} as const satisfies Record<keyof Tables['runAgents'], 'bigint' | 'text'>;
const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
const insert = statement((db, p: { rows: string }, engine) => ({
  compile: () =>
    sql<never>`insert into ${sql.table('runAgents')} (${names}) select ${names} from ${jsonRows(p.rows, 'a', columns, engine)}`.compile(
      db,
    ),
}));
const drop = statement((db, p: { runID: number }) => db.deleteFrom('runAgents').where('runID', '=', p.runID));
const changing = ['state', 'bootId', 'orders', 'error', 'updatedAt'] as const;
const put = statement((db, p: { rows: string }, engine) => {
  const changes = sql.join(changing.map((name) => sql`${sql.ref(name)} = ${sql.ref(`a.${name}`)}`));
  const isSame = sql.join(
    ['runID', 'agentID'].map((name) => sql`${sql.ref(`runAgents.${name}`)} = ${sql.ref(`a.${name}`)}`),
    sql` and `,
  );
  return {
    compile: () =>
      sql<never>`update ${sql.table('runAgents')} set ${changes} from ${jsonRows(p.rows, 'a', columns, engine)} where ${isSame}`.compile(
        db,
      ),
  };
});

const decode = decoderOf(tables.runAgents) as (row: Record<string, unknown>) => RunAgentRecord;

export const runAgentsOf = async (read: Executor, runID: number): Promise<RunAgentRecord[]> =>
  (await ofRun.all(read, { runID })).map((row) => decode(row as unknown as Record<string, unknown>));

/** One statement writes any number of agents. */
const encoded = (agents: readonly RunAgentRecord[]) =>
  JSON.stringify(agents.map((agent) => encodeRow(tables.runAgents, agent)));

/** Replaces the agents of a run. */
export const setRunAgents = async (
  tx: Writing,
  runID: number,
  agents: readonly Omit<RunAgentRecord, 'runID' | 'updatedAt'>[],
) => {
  await drop.all(tx, { runID });
  await insert.all(tx, { rows: encoded(agents.map((agent) => ({ ...agent, runID, updatedAt: tx.now }))) });
};

/** Stores the present state of agents of a run. The run must be locked or changed by this transaction. */
export const putRunAgents = async (tx: Writing, agents: readonly RunAgentRecord[]) => {
  if (agents.length === 0) return;
  await put.all(tx, { rows: encoded(agents.map((agent) => ({ ...agent, updatedAt: tx.now }))) });
};
