import { conflict } from '../../errors.ts';
import { type AgentRow, agents } from '../../store/agents/agents.ts';
import type { Executor } from '../../store/engine/database.ts';

type Reserved = Pick<AgentRow, 'reservedBy' | 'reservedUntil' | 'reservedReason' | 'ownerEmail' | 'ownerName'>;

/** The reservation in force, if any: one whose time is over holds nothing. */
export const reservationOf = (agent: Reserved, now = new Date().toISOString()) => {
  const { reservedBy: userID, reservedUntil: until, reservedReason: reason } = agent;
  if (userID === null || until === null || until <= now) return undefined;
  return {
    userID,
    user: { id: userID, email: agent.ownerEmail ?? '', realName: agent.ownerName ?? '' },
    reason,
    until,
  };
};

/** Refuses agents that another user has reserved. `userId` is null for runs that no user started. */
export const assertMayUse = async (executor: Executor, agentIds: readonly number[], userId: number | null) => {
  const now = new Date().toISOString();
  const held = (await agents.findMany(executor, agentIds)).flatMap((agent) => {
    const reservation = reservationOf(agent, now);
    return reservation === undefined || reservation.userID === userId ? [] : [{ agent, reservation }];
  });
  const [first] = held;
  if (first === undefined) return;
  const { user, until } = first.reservation;
  throw conflict('AGENT_RESERVED', `agent "${first.agent.name}" is reserved by ${user.realName} until ${until}`, {
    owner: user,
    agents: held.map(({ agent, reservation }) => ({ id: agent.id, owner: reservation.user, until: reservation.until })),
  });
};
