import type { Agent } from '@rushhour/contract';
import { activeTasksOn } from '../store/agents/agent-work.ts';
import type { AgentRow } from '../store/agents/agents.ts';
import type { Executor } from '../store/engine/database.ts';
import type { Agents } from './gateway/agents.ts';
import { reservationOf } from './gateway/reservations.ts';

type Gateway = Agents['gateway'];

/** What heartbeats told since it was last written. */
const freshOf = (id: number, gateway: Gateway) => {
  const presence = gateway.find(id);
  if (presence === undefined) return {};
  const { clockOffsetMs, roundTripMs, heardAt } = presence;
  return {
    clockOffsetMs,
    roundTripMs,
    lastSeenAt: new Date(Date.now() - (performance.now() - heardAt)).toISOString(),
  };
};

const shownAgent = (row: AgentRow, activeTaskIDs: number[], now: string, gateway: Gateway): Agent => {
  const { interfaces: _, ...agent } = row;
  const reservation = reservationOf(row, now);
  return {
    ...agent,
    ...freshOf(row.id, gateway),
    activeTaskIDs,
    reservation: reservation ? { ...reservation, taskID: activeTaskIDs[0] ?? null } : null,
  };
};

/** Agents as the interface shows them. Their tasks are read for all of them together. */
export const shownAgents = async (
  executor: Executor,
  gateway: Gateway,
  rows: readonly AgentRow[],
): Promise<Agent[]> => {
  const now = new Date().toISOString();
  const ids = rows.map(({ id }) => id);
  const tasks = await activeTasksOn(executor, ids);
  return rows.map((row) => shownAgent(row, [...new Set(tasks.get(row.id))], now, gateway));
};
