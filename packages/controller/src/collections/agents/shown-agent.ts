import type { Agent } from '@rushhour/contract';
import { reservationOf } from '../../agents/reservations.ts';
import { activeTasksOn } from '../../store/agent-work.ts';
import type { AgentRow } from '../../store/agents.ts';
import type { Executor } from '../../store/database.ts';

const shownAgent = (row: AgentRow, activeTaskIDs: number[], now: string): Agent => {
  const { interfaces: _, ...agent } = row;
  const reservation = reservationOf(row, now);
  return {
    ...agent,
    activeTaskIDs,
    reservation: reservation ? { ...reservation, taskID: activeTaskIDs[0] ?? null } : null,
  };
};

/** Agents as the interface shows them. Their tasks are read for all of them together. */
export const shownAgents = async (executor: Executor, rows: readonly AgentRow[]): Promise<Agent[]> => {
  const now = new Date().toISOString();
  const tasks = await activeTasksOn(
    executor,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => shownAgent(row, [...new Set(tasks.get(row.id))], now));
};
