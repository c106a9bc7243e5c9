import type { Store } from '../../store/store.ts';
import { loadPlanInput, type PlanServices } from '../load/load-plan-input.ts';
import { resolveSignatureFilters } from '../load/signature-filters.ts';
import type { RunPlan } from './agent-plan.ts';
import type { TaskDefinition } from './plan-input.ts';
import { planRun } from './plan-run.ts';
import { needsThread, planInThread } from './plan-thread.ts';

interface Deps extends Omit<PlanServices, 'secrets'> {
  readonly store: Store;
}

/** A task as it is stored, its shape checked when it was written. */
interface StoredDefinition {
  readonly configuration: readonly unknown[];
  readonly accessPlane?: readonly unknown[] | null | undefined;
  readonly controlPlane?: readonly unknown[] | null | undefined;
  readonly dumps?: object | null | undefined;
  readonly taskId?: number;
}

/** Plans tasks from what the store knows at the moment. */
export const createPlanner = ({ store, settings, ...services }: Deps) => ({
  plan: async ({ configuration, accessPlane, controlPlane, dumps, taskId = 0 }: StoredDefinition): Promise<RunPlan> => {
    const definition = {
      configuration,
      accessPlane: accessPlane ?? [],
      controlPlane: controlPlane ?? [],
      dumps: dumps ?? {},
      taskId,
    } as TaskDefinition;
    const listed = await resolveSignatureFilters(store.read, definition);
    const input = await loadPlanInput(store.read, { secrets: store.secrets, settings, ...services }, listed);
    return needsThread(input) ? planInThread(input) : planRun(input);
  },
});

export type TaskPlanner = ReturnType<typeof createPlanner>;
