import { activeStatuses } from '@rushhour/contract';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';

/** An active or queued run and an agent it occupies or needs. */
export interface ActiveWork {
  readonly taskID: number;
  readonly agentID: number;
  readonly startedAt: string | null;
  readonly queuedAt: string;
  /** Common start, milliseconds since 1970. */
  readonly t0: number | null;
  readonly plannedSec: number | null;
  readonly pausedMs: number;
}

const taken = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runs')
    .innerJoin('runAgents', 'runAgents.runID', 'runs.id')
    .select(['runs.taskID', 'runAgents.agentID', 'runs.startedAt', 'runs.queuedAt'])
    .select(['runs.t0', 'runs.plannedSec', 'runs.pausedMs'])
    .where('runs.status', 'in', [2, 3, 4, 5, 6])
    .where(inList('runAgents.agentID', p.ids, engine)),
);
// A queued run has no agents yet; it will need those of its task.
const wanted = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runs')
    .innerJoin('links', (join) =>
      join.onRef('links.fromID', '=', 'runs.taskID').on('links.fromKind', '=', 'task').on('links.toKind', '=', 'agent'),
    )
    .select(['runs.taskID', 'links.toID as agentID', 'runs.startedAt', 'runs.queuedAt'])
    .select(['runs.t0', 'runs.plannedSec', 'runs.pausedMs'])
    .where('runs.status', '=', 1)
    .where(inList('links.toID', p.ids, engine)),
);

/** Active and queued work on these agents. */
export const activeWorkOn = async (executor: Executor, agentIds: readonly number[]): Promise<ActiveWork[]> => {
  const ids = JSON.stringify(agentIds);
  return [...(await taken.all(executor, { ids })), ...(await wanted.all(executor, { ids }))];
};

// Joins from the few active runs to their agents, so an agent's whole history is never read.
const ofAgents = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runs')
    .innerJoin('runAgents', 'runAgents.runID', 'runs.id')
    .select(['runAgents.agentID', 'runs.taskID'])
    .where('runs.status', 'in', activeStatuses)
    .where(inList('runAgents.agentID', p.ids, engine))
    .orderBy('runs.taskID'),
);
const busy = statement((db, _: object) =>
  db
    .selectFrom('runs')
    .innerJoin('runAgents', 'runAgents.runID', 'runs.id')
    .select('runAgents.agentID')
    .distinct()
    .where('runs.status', 'in', activeStatuses),
);

/** The tasks with an active run, by agent. */
export const activeTasksOn = async (executor: Executor, agentIds: readonly number[]) => {
  const byAgent = new Map<number, number[]>();
  for (const { agentID, taskID } of await ofAgents.all(executor, { ids: JSON.stringify(agentIds) })) {
    byAgent.set(agentID, [...(byAgent.get(agentID) ?? []), taskID]);
  }
  return byAgent;
};

export const busyAgents = async (executor: Executor) =>
  new Set((await busy.all(executor, {})).map(({ agentID }) => agentID));
