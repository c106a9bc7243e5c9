import { activeStatuses } from '@rushhour/contract';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';

// From the few runs under way to their agents: an agent's whole history is never read.
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

/** The tasks that have a run under way on each of the agents. */
export const activeTasksOn = async (executor: Executor, agentIds: readonly number[]) => {
  const byAgent = new Map<number, number[]>();
  for (const { agentID, taskID } of await ofAgents.all(executor, { ids: JSON.stringify(agentIds) })) {
    byAgent.set(agentID, [...(byAgent.get(agentID) ?? []), taskID]);
  }
  return byAgent;
};

export const busyAgents = async (executor: Executor) =>
  new Set((await busy.all(executor, {})).map(({ agentID }) => agentID));
