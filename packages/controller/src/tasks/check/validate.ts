import type { api, TaskDraft, ValidationIssue } from '@rushhour/contract';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { type Issue, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { TaskPlanner } from '../../plan/core/create-planner.ts';
import type { Calendar } from '../../runs/schedules/calendar.ts';
import type { Store } from '../../store/store.ts';
import { openTask } from '../../store/tasks/tasks.ts';
import { type Definition, definitionOf } from '../records/write-task.ts';
import { checkTask } from './check-task.ts';
import { agentIssues } from './validate-agents.ts';
import { conflictsWith } from './validate-conflicts.ts';
import { liveIssues } from './validate-live.ts';

interface Deps {
  store: Store;
  planner: TaskPlanner;
  calendar: Calendar;
  agents: { everywhere: AgentGateway };
}

type Body = { id: number } | TaskDraft;

/** All issues of a task, and those of starting it now. */
export const validateHandlers = ({
  store,
  planner,
  calendar,
  agents: { everywhere: gateway },
}: Deps): Pick<Handlers<typeof api.tasks>, 'validate'> => ({
  validate: async ({ body, query: { live = false } }, caller) => {
    const { taskId, definition } = await definitionIn(store, body as Body);
    const [checked, plan] = await Promise.all([checkTask(store.read, definition), planner.plan(definition)]);
    const [ofAgents, conflicts, asked] = await Promise.all([
      agentIssues(store.read, plan, { userId: caller.userId, isLive: live }),
      conflictsWith({ read: store.read, calendar }, plan, taskId),
      live ? liveIssues(gateway, plan) : [],
    ]);
    const issues = merged(checked, [...plan.issues, ...ofAgents, ...asked]);
    const valid = issues.every(({ severity }) => severity !== 'error');
    return { data: { valid, issues, estimate: plan.estimate, conflicts } };
  },
});

const definitionIn = async (store: Store, body: Body): Promise<{ taskId: number | null; definition: Definition }> => {
  if ('configuration' in body) return { taskId: null, definition: definitionOf(body) };
  const task = await orNotFound(openTask(store.read, store.secrets, body.id), 'task', body.id);
  return { taskId: task.id, definition: task };
};

/** Issues of the task itself are reported once, not again by their consequences. */
const merged = (checked: readonly Issue[], planned: RunPlan['issues']): ValidationIssue[] => {
  const paths = new Set(checked.map(({ path }) => path));
  const own = checked.map(({ path, code, message }) => ({ severity: 'error' as const, code, path, message }));
  return [...own, ...planned.filter(({ path, severity }) => severity !== 'error' || !paths.has(path))];
};
