import { activeStatuses } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Engine, Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';

/** Time of the database: clocks of controllers differ. */
const nowMs = (engine: Engine) =>
  engine === 'sqlite'
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

const renew = statement((db, p: { id: string; leaseMs: number }, engine) => {
  const leaseUntil = sql<number>`${nowMs(engine)} + ${p.leaseMs}`;
  return db
    .insertInto('controllers')
    .values({ id: p.id, leaseUntil })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ leaseUntil }))
    .returning('id');
});
/** From now on the controller is thought to be there for so long. */
export const renewController = (tx: Executor, id: string, leaseMs: number) => renew.all(tx, { id, leaseMs });

const present = statement((db, _: object, engine) =>
  db.selectFrom('controllers').select('id').where('leaseUntil', '>', nowMs(engine)).orderBy('id'),
);
/** Controllers whose lease has not ended, in an order that all of them see. */
export const presentControllers = async (read: Executor): Promise<string[]> =>
  (await present.all(read, {})).map(({ id }) => id);

const remove = statement((db, p: { id: string }) => db.deleteFrom('controllers').where('id', '=', p.id));
const removeOld = statement((db, p: { ageMs: number }, engine) =>
  db.deleteFrom('controllers').where('leaseUntil', '<', sql<number>`${nowMs(engine)} - ${p.ageMs}`),
);
const dayMs = 86_400_000;
/** The controller stops, and others that ended long ago are forgotten. */
export const removeController = async (tx: Executor, id: string) => {
  await remove.all(tx, { id });
  await removeOld.all(tx, { ageMs: dayMs });
};

const active = statement((db, _: object) =>
  db
    .selectFrom('runs')
    .leftJoin('runLeases', 'runLeases.runID', 'runs.id')
    .select(['runs.id as runId', 'runLeases.owner', 'runLeases.fence'])
    .where('runs.status', 'in', activeStatuses)
    .orderBy('runs.id'),
);
export interface LeasedRun {
  readonly runId: number;
  /** Null for a run that never had an owner. */
  readonly owner: string | null;
  readonly fence: number | null;
}
/** The owners of all active runs. */
export const leasedRuns = (read: Executor): Promise<LeasedRun[]> => active.all(read, {});

const waiting = statement((db, _: object) =>
  db
    .selectFrom('runs')
    .innerJoin('runLeases', 'runLeases.runID', 'runs.id')
    .select(['runLeases.runID', 'runLeases.agentIDs'])
    .where('runs.status', '=', 1),
);
/** By queued run: the agents it waits for. */
export const awaitedAgents = async (read: Executor): Promise<Map<number, number[]>> =>
  new Map(
    (await waiting.all(read, {})).map(({ runID, agentIDs }) => [runID, JSON.parse(String(agentIDs)) as number[]]),
  );

const insert = statement((db, p: { runID: number; owner: string; fence: number; agentIDs: string }) =>
  db
    .insertInto('runLeases')
    .values({ runID: p.runID, owner: p.owner, fence: p.fence, agentIDs: p.agentIDs as never })
    .onConflict((conflict) => conflict.column('runID').doNothing())
    .returning('fence'),
);
/** False when the run has a lease already. */
export const insertLease = async (tx: Executor, runID: number, owner: string, agentIds: readonly number[] = []) =>
  (await insert.all(tx, { runID, owner, fence: 1, agentIDs: JSON.stringify(agentIds) })).length > 0;

const take = statement((db, p: { runID: number; owner: string; before: number; fence: number }) =>
  db
    .updateTable('runLeases')
    .set({ owner: p.owner, fence: p.fence })
    .where('runID', '=', p.runID)
    .where('fence', '=', p.before)
    .returning('fence'),
);
/** Makes a controller the owner of a run; undefined when another one was faster. Returns the new fence. */
export const takeLease = async (
  tx: Executor,
  { runId: runID, fence }: LeasedRun,
  owner: string,
): Promise<number | undefined> => {
  if (fence === null) return (await insertLease(tx, runID, owner)) ? 1 : undefined;
  const [row] = await take.all(tx, { runID, owner, before: fence, fence: fence + 1 });
  return row?.fence;
};

const held = statement((db, p: { runID: number }, engine) => {
  const row = db.selectFrom('runLeases').select('fence').where('runID', '=', p.runID);
  return engine === 'postgres' ? row.forShare() : row;
});
/** The fence of a run, which stays as it is until the transaction ends. */
export const lockFence = async (tx: Executor, runID: number): Promise<number | undefined> =>
  (await held.first(tx, { runID }))?.fence;

const ofActive = statement((db, p: { runID: number }, engine) => {
  const row = db
    .selectFrom('runLeases')
    .innerJoin('runs', 'runs.id', 'runLeases.runID')
    .select('runLeases.fence')
    .where('runLeases.runID', '=', p.runID)
    .where('runs.status', 'in', activeStatuses);
  return engine === 'postgres' ? row.forShare('runLeases') : row;
});
/** The same; undefined when the run is over. */
export const lockFenceOfActive = async (tx: Executor, runID: number): Promise<number | undefined> =>
  (await ofActive.first(tx, { runID }))?.fence;

const drop = statement((db, p: { runID: number; fence: number }) =>
  db.deleteFrom('runLeases').where('runID', '=', p.runID).where('fence', '=', p.fence),
);
/** The run has ended. */
export const dropLease = (tx: Executor, runID: number, fence: number) => drop.all(tx, { runID, fence });

const giveUp = statement((db, p: { owner: string }) =>
  db.updateTable('runLeases').set({ owner: '' }).where('owner', '=', p.owner),
);
/** Any controller may take the runs of this one. */
export const giveUpLeases = (tx: Executor, owner: string) => giveUp.all(tx, { owner });

const queueLock = { name: 'queueLock', sql: 'SELECT pg_advisory_xact_lock(7283313)' };
/** Controllers start runs one after the other: what one finds free the next one finds taken. */
export const lockQueue = async (tx: Executor) => {
  if (tx.engine === 'postgres') await tx.run(queueLock, []);
};
