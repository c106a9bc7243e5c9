import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { RunDefinition } from '../../store/runs/runs.ts';

/** Makes a plan from a definition with its secrets and the current content of the store. */
export interface Planner {
  /** Seeds random values. */
  plan(definition: RunDefinition & { readonly taskId?: number }): Promise<RunPlan>;
}

export interface MadePlan {
  plan: RunPlan;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Issues that prevent a start. */
export const errorsOf = ({ issues }: RunPlan) => issues.filter(({ severity }) => severity === 'error');
