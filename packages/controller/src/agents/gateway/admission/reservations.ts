import type { AgentRow } from '../../../store/agents/agents.ts';

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
