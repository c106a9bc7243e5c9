import { localBus } from '../../bus/local.ts';
import { createPlanner } from '../../plan/core/create-planner.ts';
import { createRunControl } from '../../runs/control/run-control.ts';
import { defaultTiming } from '../../runs/lifecycle/deadlines.ts';
import { createEnqueue } from '../../runs/queue/enqueue.ts';
import { createStartCheck } from '../../runs/queue/start-check.ts';
import { openStore } from '../../store/store.ts';
import { loadSettings } from '../../store/system/settings.ts';
import { checkTask } from '../../tasks/check/check-task.ts';
import { thresholdIssues } from '../../tasks/check/threshold-rules.ts';
import type { ConfirmDeps } from '../approvals/approval-confirm.ts';
import { createApprovalService } from '../approvals/approval-service.ts';

/** Approvals on a database, without a controller around them: starts in a moment. */
export const openApprovals = async (storeOptions: Parameters<typeof openStore>[0], onStep?: ConfirmDeps['onStep']) => {
  const store = await openStore(storeOptions);
  const bus = localBus();
  const settings = await loadSettings(store.read, store.secrets, bus);
  const planner = createPlanner({
    store,
    settings,
    dictionaries: async () => new Map(),
    tables: async () => new Map(),
    samples: async () => new Map(),
    recordings: async () => new Map(),
    captures: async () => new Map(),
    baselines: async () => new Map(),
    campaignFiles: async () => new Map(),
  });
  const deps = {
    ...{ store, settings, bus, planner },
    checkDefinition: (definition: object) => checkTask(store.read, definition as never),
    checkThresholds: (definition: object, thresholds: object) =>
      thresholdIssues(definition as never, thresholds as never),
    diskUsedPct: async () => 1,
    keepPlan: () => {},
    leases: { claim: async () => {} },
    timing: defaultTiming,
  };
  const runs = { check: createStartCheck(deps), enqueue: createEnqueue(deps), ...createRunControl(deps) };
  const { approvals } = createApprovalService({ store, settings, bus, planner, runs: runs as never, onStep });
  return { store, approvals };
};
