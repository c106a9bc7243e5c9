import { createTable, type Migrating } from './create-table.ts';

/** What ended runs came to, by steps of time, so that it need not be computed from each second of each agent again. */
export const runRollups = async (m: Migrating) => {
  await createTable(m, 'runRollups', {
    runID: 'integer>runs.id',
    stepSec: 'integer',
    agentID: 'integer',
    fromSec: 'integer',
    data: 'bytes',
  });
  await m.raw(
    'CREATE UNIQUE INDEX "runRollups_step_unique" ON "runRollups" ("runID", "stepSec", "agentID", "fromSec")',
  );
};
