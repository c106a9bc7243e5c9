import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import type { Store } from '../store.ts';
import { doomDumps } from './run-dumps.ts';
import { dropSamplePartitions } from './sample-partitions.ts';

type Ids = { ids: string };
const dependent = (
  [
    'runSamples',
    'runRollups',
    'runNames',
    'runEvents',
    'runAgents',
    'runAttempts',
    'runRecords',
    'runRows',
    'attackResults',
    'runLeases',
  ] as const
).map((table) => statement((db, p: Ids, engine) => db.deleteFrom(table).where(inList('runID', p.ids, engine))));
const logs = statement((db, p: Ids, engine) => db.deleteFrom('agentLogs').where(inList('runID', p.ids, engine)));
const forgetInTasks = statement((db, p: Ids, engine) =>
  db
    .updateTable('tasks')
    .set({ lastRunID: null, verdict: 0 })
    .where(inList('lastRunID', p.ids, engine)),
);
const forgetInSchedules = statement((db, p: Ids, engine) =>
  db
    .updateTable('taskSchedules')
    .set({ lastRunID: null })
    .where(inList('lastRunID', p.ids, engine)),
);
const remove = statement((db, p: Ids, engine) => db.deleteFrom('runs').where(inList('id', p.ids, engine)));

/** Deletes runs with everything that belongs to them. None of them may be active. */
export const removeRuns = async (tx: Executor, runIds: readonly number[]) => {
  const ids = JSON.stringify(runIds);
  await doomDumps(tx, runIds);
  for (const statement of [...dependent, logs, forgetInTasks, forgetInSchedules, remove]) {
    await statement.all(tx, { ids });
  }
};

const batchSize = 20;
const old = statement((db, p: { before: string }) =>
  db
    .selectFrom('runs')
    .select('id')
    .where('finishedAt', '<', p.before)
    .where('status', '>=', 7)
    .where('pinned', '=', 0)
    .orderBy('id')
    .limit(batchSize),
);

/** Deletes runs that ended more than `days` ago and are not pinned; a few per transaction, so that other changes do not wait long. */
export const sweepRuns = async (store: Store, days: number): Promise<number> => {
  const before = new Date(Date.now() - days * 86_400_000).toISOString();
  await dropSamplePartitions(store.database, before);
  let swept = 0;
  for (;;) {
    const ids = await store.database.transaction(async (tx) => {
      const found = (await old.all(tx, { before })).map(({ id }) => id);
      if (found.length > 0) await removeRuns(tx, found);
      return found;
    });
    swept += ids.length;
    if (ids.length < batchSize) return swept;
  }
};
