import type { AiKeyFacts } from '../../caller.ts';
import { tooMany } from '../../errors.ts';
import { type ApprovalUsage, approvalUsage, runsOfKey } from '../../store/ai/ai-approvals.ts';
import type { Executor } from '../../store/engine/database.ts';
import { activeRuns } from '../../store/runs/runs.ts';
import type { Cost } from './approval-plan.ts';

const minute = 60;
const hour = 3600;

/** Limits the approval requests of a key. Stopping is never limited. */
export const assertMayAsk = ({ limits }: AiKeyFacts, usage: ApprovalUsage, isWaiting: boolean) => {
  if (usage.askedLastHour >= limits.approvalsPerHour) {
    throw tooMany('APPROVAL_QUOTA', `more than ${limits.approvalsPerHour} requests for approval in an hour`, hour / 4);
  }
  if (isWaiting && usage.waiting >= limits.pendingApprovals) {
    throw tooMany('APPROVAL_QUOTA', `${usage.waiting} approvals are waiting: confirm or cancel some`, minute);
  }
};

const assertBudget = (what: string, used: number, more: number, limit: number | null) => {
  if (limit === null || used + more <= limit) return;
  throw tooMany('BUDGET_EXCEEDED', `this key has used ${used} of ${limit} ${what} of the last 24 hours`, hour);
};

/** Refuses starts beyond the key's daily budgets and its limit of concurrent runs. */
export const assertAffordable = async (
  tx: Executor & { readonly now: string },
  key: AiKeyFacts,
  cost: Cost,
  taskIds: readonly number[],
) => {
  if (cost.starts === 0) return;
  const usage = await approvalUsage(tx, key.id, tx.now);
  const { startsPerDay, agentSecondsPerDay, bytesPerDay } = key.limits;
  assertBudget('starts', usage.starts, cost.starts, startsPerDay);
  assertBudget('agent-seconds', usage.agentSeconds, cost.agentSeconds, agentSecondsPerDay);
  assertBudget('bytes', usage.bytes, cost.generatedBytes, bytesPerDay);
  const own = await runsOfKey(tx, key.id);
  // A restarted run frees its own slot.
  const active = (await activeRuns(tx)).filter(({ id, taskID }) => own.has(id) && !taskIds.includes(taskID)).length;
  const { maxConcurrentTasks } = key.constraints;
  if (active + cost.starts > maxConcurrentTasks) {
    throw tooMany('TOO_MANY_TASKS', `this key may run ${maxConcurrentTasks} tasks at once; ${active} run`, minute);
  }
};
