import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { Calendar } from '../../runs/schedules/calendar.ts';
import { unknownMs } from '../../runs/schedules/conflicts.ts';
import { type ActiveWork, activeWorkOn } from '../../store/agents/agent-work.ts';
import type { Executor } from '../../store/engine/database.ts';

interface AgentConflict {
  taskID: number;
  agentID: number;
  from: string;
  to: string | null;
}

const maxConflicts = 100;

/** Other tasks that use the same agents during a run started now. */
export const conflictsWith = async (
  { read, calendar }: { read: Executor; calendar: Calendar },
  { agents, plannedSec }: RunPlan,
  taskId: number | null,
): Promise<AgentConflict[]> => {
  const ids = agents.map(({ agentId }) => agentId);
  if (ids.length === 0) return [];
  const now = Date.now();
  const toMs = now + (plannedSec === null ? unknownMs : plannedSec * 1000);
  const [active, planned] = await Promise.all([activeWorkOn(read, ids), calendar.occupied({ fromMs: now, toMs })]);
  const scheduled = planned.flatMap(({ taskId: taskID, agentIds, starts, lengthMs }) =>
    starts.flatMap((start) =>
      agentIds
        .filter((id) => ids.includes(id))
        .map((agentID) => ({ taskID, agentID, from: isoOf(start), to: isoOf(start + lengthMs) })),
    ),
  );
  return [...active.map(conflictOf), ...scheduled].filter(({ taskID }) => taskID !== taskId).slice(0, maxConflicts);
};

const isoOf = (ms: number) => new Date(ms).toISOString();

/** A run that has not started or has no planned end has no known end time. */
const conflictOf = ({ taskID, agentID, startedAt, queuedAt, t0, plannedSec, pausedMs }: ActiveWork): AgentConflict => ({
  taskID,
  agentID,
  from: startedAt ?? queuedAt,
  to: t0 === null || plannedSec === null ? null : isoOf(t0 + plannedSec * 1000 + pausedMs),
});
