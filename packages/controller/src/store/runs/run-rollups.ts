import type { Executor } from '../engine/database.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import type { Tables } from '../tables/index.ts';

export type RollupRow = Tables['runRollups'];

const insert = statement((db, _: RollupRow) => db.insertInto('runRollups').values(everyColumn('runRollups')));
export const insertRollups = async (tx: Executor, rows: readonly RollupRow[]) => {
  for (const row of rows) await insert.all(tx, row);
};

const remove = statement((db, p: { runID: number }) => db.deleteFrom('runRollups').where('runID', '=', p.runID));
export const removeRollups = (tx: Executor, runID: number) => remove.all(tx, { runID });

interface Wanted {
  runID: number;
  stepSec: number;
  afterAgent: number;
  limit: number;
}
const ofAgents = statement((db, p: Wanted) =>
  db
    .selectFrom('runRollups')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('stepSec', '=', p.stepSec)
    .where('agentID', '>', p.afterAgent)
    .orderBy('agentID')
    .orderBy('fromSec')
    .limit(p.limit),
);
const ofOne = statement((db, p: { runID: number; stepSec: number; agentID: number }) =>
  db
    .selectFrom('runRollups')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('stepSec', '=', p.stepSec)
    .where('agentID', '=', p.agentID)
    .orderBy('fromSec'),
);
const agentsAtOnce = 32;

/** What is stored of one agent, or of all together where its id is 0. */
export const rollupsOf = (read: Executor, runID: number, stepSec: number, agentID: number) =>
  ofOne.all(read, { runID, stepSec, agentID });

/** What is stored of each agent, a handful at a time. There is one row for an agent and a step. */
export async function* rollupsByAgent(read: Executor, runID: number, stepSec: number): AsyncGenerator<RollupRow[]> {
  let afterAgent = 0;
  for (;;) {
    const rows = await ofAgents.all(read, { runID, stepSec, afterAgent, limit: agentsAtOnce });
    if (rows.length > 0) yield rows;
    if (rows.length < agentsAtOnce) return;
    afterAgent = rows.at(-1)?.agentID ?? 0;
  }
}

const count = statement((db, p: { runID: number }) =>
  db.selectFrom('runRollups').select('agentID').where('runID', '=', p.runID),
);
export const countRollups = async (read: Executor, runID: number) => (await count.all(read, { runID })).length;

const some = statement((db, p: { runID: number; stepSec: number }) =>
  db
    .selectFrom('runRollups')
    .select('agentID')
    .where('runID', '=', p.runID)
    .where('stepSec', '=', p.stepSec)
    .where('agentID', '=', 0)
    .limit(1),
);
/** Whether the steps of a run are stored: those of all agents together are written last. */
export const hasRollups = async (read: Executor, runID: number, stepSec: number) =>
  (await some.first(read, { runID, stepSec })) !== undefined;

const rows = statement((db, p: { runID: number; limit: number }) =>
  db.selectFrom('runSamples').select('agentID').where('runID', '=', p.runID).limit(p.limit),
);
/** Whether a run has at least so many rows of samples. */
export const hasManySamples = async (read: Executor, runID: number, limit: number) =>
  (await rows.all(read, { runID, limit })).length >= limit;
