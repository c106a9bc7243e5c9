import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';

/** The facts that decide whether an agent can take a run now. */
export interface AgentForRun {
  id: number;
  name: string;
  isBlocked: boolean;
  isDeleted: boolean;
  /** 0 = no limit. */
  maxConcurrentTasks: number;
  activeRuns: number;
  reservedBy: number | null;
  reservedUntil: string | null;
  ownerEmail: string | null;
  needsReset: boolean;
  bootId: string;
}

const busyRuns = sql<number>`(select count(*) from ${sql.ref('runAgents')} inner join runs on runs.id = ${sql.ref('runAgents.runID')} where ${sql.ref('runAgents.agentID')} = ${sql.ref('agents.id')} and runs.status between 2 and 6)`;
const owner = sql<string | null>`(select email from users where users.id = ${sql.ref('agents.reservedBy')})`;

const forRun = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('agents')
    .select(['id', 'name', 'isBlocked', 'deletedAt', 'maxConcurrentTasks'])
    .select(['reservedBy', 'reservedUntil', 'needsReset', 'bootId'])
    .select([busyRuns.as('activeRuns'), owner.as('ownerEmail')])
    .where(inList('agents.id', p.ids, engine)),
);

/** Agents by id, removed ones included. */
export const agentsForRuns = async (read: Executor, ids: readonly number[]): Promise<Map<number, AgentForRun>> => {
  const rows = await forRun.all(read, { ids: JSON.stringify(ids) });
  return new Map(
    rows.map(({ isBlocked, deletedAt, needsReset, activeRuns, ...agent }) => [
      agent.id,
      {
        ...agent,
        isBlocked: isBlocked === 1,
        isDeleted: deletedAt !== null,
        needsReset: needsReset === 1,
        activeRuns: Number(activeRuns),
      },
    ]),
  );
};

const started = statement((db, _: object) =>
  db.selectFrom('runs').select(sql<number>`count(*)`.as('count')).where('status', 'in', [2, 3, 4, 5, 6]),
);
/** How many runs are neither queued nor over. */
export const countStarted = async (read: Executor): Promise<number> => Number((await started.first(read, {}))?.count);

const markReset = statement((db, p: { id: number; needsReset: number }) =>
  db.updateTable('agents').set({ needsReset: p.needsReset }).where('id', '=', p.id),
);
/** Whether an agent must answer `reset` before it gets new work. */
export const keepNeedsReset = (tx: Executor, id: number, needsReset: boolean) =>
  markReset.all(tx, { id, needsReset: needsReset ? 1 : 0 });

const dirty = statement((db, _: object) =>
  db
    .selectFrom('agents')
    .select('id')
    .where('needsReset', '=', 1)
    .where('deletedAt', 'is', null)
    .where(
      sql<boolean>`not exists (select 1 from ${sql.ref('runAgents')} inner join runs on runs.id = ${sql.ref('runAgents.runID')} where ${sql.ref('runAgents.agentID')} = ${sql.ref('agents.id')} and runs.status between 2 and 6)`,
    ),
);
/** Agents that need a reset and have no active run that it would disturb. */
export const agentsToReset = async (read: Executor) => (await dirty.all(read, {})).map(({ id }) => id);
