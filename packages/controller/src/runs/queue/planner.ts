import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { RunDefinition } from '../../store/runs/runs.ts';

/** Makes a plan from a definition, secrets in place, and what the store knows at that moment. */
export interface Planner {
  /** Values that are drawn at random depend on the task. */
  plan(definition: RunDefinition & { readonly taskId?: number }): Promise<RunPlan>;
}

/** The problems that forbid a start. */
export const errorsOf = ({ issues }: RunPlan) => issues.filter(({ severity }) => severity === 'error');
