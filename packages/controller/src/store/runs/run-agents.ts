import type { RecordOf } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { decoderOf, encodeRow } from '../engine/row.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import { type Tables, tables } from '../tables/index.ts';
import type { Writing } from './runs.ts';

export type RunAgentRecord = RecordOf<typeof tables.runAgents>;

const ofRun = statement((db, p: { runID: number }) =>
  db.selectFrom('runAgents').selectAll().where('runID', '=', p.runID).orderBy('agentID'),
);
const insert = statement((db, _: Tables['runAgents']) => db.insertInto('runAgents').values(everyColumn('runAgents')));
const drop = statement((db, p: { runID: number }) => db.deleteFrom('runAgents').where('runID', '=', p.runID));
const put = statement((db, p: Tables['runAgents']) =>
  db
    .updateTable('runAgents')
    .set({ state: p.state, bootId: p.bootId, orders: p.orders, error: p.error, updatedAt: p.updatedAt })
    .where('runID', '=', p.runID)
    .where('agentID', '=', p.agentID),
);

const decode = decoderOf(tables.runAgents) as (row: Record<string, unknown>) => RunAgentRecord;

export const runAgentsOf = async (read: Executor, runID: number): Promise<RunAgentRecord[]> =>
  (await ofRun.all(read, { runID })).map((row) => decode(row as unknown as Record<string, unknown>));

/** Replaces the agents of a run. */
export const setRunAgents = async (
  tx: Writing,
  runID: number,
  agents: readonly Omit<RunAgentRecord, 'runID' | 'updatedAt'>[],
) => {
  await drop.all(tx, { runID });
  for (const agent of agents) {
    const row = { ...agent, runID, updatedAt: tx.now };
    await insert.all(tx, encodeRow(tables.runAgents, row) as Tables['runAgents']);
  }
};

/** Stores the present state of agents of a run. The run must be locked or changed by this transaction. */
export const putRunAgents = async (tx: Writing, agents: readonly RunAgentRecord[]) => {
  for (const agent of agents) {
    await put.all(tx, encodeRow(tables.runAgents, { ...agent, updatedAt: tx.now }) as Tables['runAgents']);
  }
};
