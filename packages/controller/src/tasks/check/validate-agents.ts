import type { ValidationIssue } from '@rushhour/contract';
import type { AgentPlan, RunPlan } from '../../plan/core/agent-plan.ts';
import { isReservedFrom } from '../../runs/queue/queue.ts';
import { type AgentRow, agents } from '../../store/agents/agents.ts';
import type { Executor } from '../../store/engine/database.ts';
import { type AgentForRun, agentsForRuns } from '../../store/runs/run-queue.ts';

const maxClockOffsetMs = 50;

/** Of the agent's first job. */
export const pathOf = ({ jobs }: AgentPlan): string => jobs[0]?.path ?? '';

type Judge = (agent: AgentForRun) => Omit<ValidationIssue, 'path' | 'agentId'>[];

/** Other users of an agent, and clock offsets. A run would wait for most of it, so it is an error only with `isLive`. */
export const agentIssues = async (
  read: Executor,
  { agents: plans }: RunPlan,
  { userId, isLive }: { userId: number; isLive: boolean },
): Promise<ValidationIssue[]> => {
  const ids = plans.map(({ agentId }) => agentId);
  const [known, rows] = await Promise.all([agentsForRuns(read, ids), agents.findMany(read, ids)]);
  const clocks = new Map(rows.map((row) => [row.id, row]));
  const judge = judgeOf({ userId, now: new Date().toISOString(), isLive });
  return plans.flatMap((plan) => {
    const agent = known.get(plan.agentId);
    const found = agent ? [...judge(agent), ...clockIssues(clocks.get(agent.id))] : [];
    return found.map((issue) => ({ ...issue, path: pathOf(plan), agentId: plan.agentId }));
  });
};

const judgeOf =
  ({ userId, now, isLive }: { userId: number; now: string; isLive: boolean }): Judge =>
  (agent) => {
    const { name, ownerEmail, reservedUntil, maxConcurrentTasks, activeRuns } = agent;
    const severity = isLive ? ('error' as const) : ('warning' as const);
    const reserved = `agent ${name} is reserved by ${ownerEmail} until ${reservedUntil}`;
    const full = `agent ${name} has ${activeRuns} runs under way and takes no more than ${maxConcurrentTasks}`;
    const isFull = maxConcurrentTasks > 0 && activeRuns >= maxConcurrentTasks;
    return [
      ...(isReservedFrom(agent, userId, now) ? [{ severity, code: 'AGENT_RESERVED', message: reserved }] : []),
      ...(isFull ? [{ severity: 'warning' as const, code: 'AGENT_BUSY', message: full }] : []),
    ];
  };

/** A clock offset is known to within half a round trip. */
const clockIssues = (agent: AgentRow | undefined) => {
  if (agent === undefined) return [];
  const { name, clockOffsetMs, roundTripMs } = agent;
  if (Math.abs(clockOffsetMs) - roundTripMs / 2 <= maxClockOffsetMs) return [];
  const message = `the clock of agent ${name} is off by ${Math.round(clockOffsetMs)} ms; times are corrected by it`;
  return [{ severity: 'warning' as const, code: 'CLOCK_OFFSET', message }];
};
