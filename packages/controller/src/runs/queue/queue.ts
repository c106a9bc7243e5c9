import type { AgentForRun } from '../../store/runs/run-queue.ts';

/** A queued run and the agents it needs. */
export interface WaitingRun {
  readonly id: number;
  readonly startedBy: number | null;
  readonly notBefore: string | null;
  readonly deadlineAt: string | null;
  readonly agentIds: readonly number[];
}

export interface QueueFacts {
  /** ISO timestamp. */
  readonly now: string;
  readonly agents: ReadonlyMap<number, AgentForRun>;
  isOnline(agentId: number): boolean;
  /** Number of further runs that may start. */
  readonly freeSlots: number;
}

export type QueueMove =
  | { readonly kind: 'begin'; readonly runId: number }
  | {
      readonly kind: 'fail';
      readonly runId: number;
      readonly reason: 'queueTimeout' | 'agentLost';
      readonly error: string;
    };

export const isReservedFrom = (agent: AgentForRun, userId: number | null, now: string) =>
  agent.reservedBy !== null && agent.reservedBy !== userId && agent.reservedUntil !== null && agent.reservedUntil > now;

const missingOf = (run: WaitingRun, { agents }: QueueFacts) => {
  for (const id of run.agentIds) {
    const agent = agents.get(id);
    if (agent === undefined || agent.isDeleted) return `agent ${agent?.name ?? id} was removed`;
    if (agent.isBlocked) return `agent ${agent.name} is blocked`;
  }
  return undefined;
};

/**
 * Decides about the queued runs, given in order of priority and age. A run may overtake another queued
 * run, but never by taking an agent that the other waits for: no run starves.
 */
export const movesOf = (waiting: readonly WaitingRun[], facts: QueueFacts): QueueMove[] => {
  const moves: QueueMove[] = [];
  const taken = new Map<number, number>();
  let { freeSlots } = facts;
  for (const run of waiting) {
    const missing = missingOf(run, facts);
    if (missing !== undefined) moves.push({ kind: 'fail', runId: run.id, reason: 'agentLost', error: missing });
    else if (run.deadlineAt !== null && run.deadlineAt <= facts.now) {
      moves.push({ kind: 'fail', runId: run.id, reason: 'queueTimeout', error: 'waited too long for its agents' });
    } else if (run.notBefore === null || run.notBefore <= facts.now) {
      const agents = run.agentIds.map((id) => facts.agents.get(id) as AgentForRun);
      if (!agents.every((agent) => isUsable(agent, run, facts))) continue;
      const hasRoom = agents.every(
        ({ id, maxConcurrentTasks, activeRuns }) =>
          maxConcurrentTasks === 0 || activeRuns + (taken.get(id) ?? 0) < maxConcurrentTasks,
      );
      if (hasRoom && freeSlots > 0) {
        freeSlots -= 1;
        moves.push({ kind: 'begin', runId: run.id });
      }
      for (const { id } of agents) taken.set(id, (taken.get(id) ?? 0) + 1);
    }
  }
  return moves;
};

const isUsable = (agent: AgentForRun, { startedBy }: WaitingRun, { now, isOnline }: QueueFacts) =>
  isOnline(agent.id) && !agent.needsReset && !isReservedFrom(agent, startedBy, now);
