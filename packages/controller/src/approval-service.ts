import { createApprovals } from './ai/approvals.ts';
import type { ConfirmDeps } from './ai/approvals-confirm.ts';
import { isFreshlySignedIn } from './ai/reauthentication.ts';
import type { Bus } from './bus/local.ts';
import { createTaskOperations } from './collections/task-operations.ts';
import type { Runs } from './runs/create-runs.ts';
import type { TaskPlanner } from './runs/plan/create-planner.ts';
import type { Store } from './store/index.ts';
import type { SettingsStore } from './store/settings.ts';

interface Parts {
  store: Store;
  settings: Pick<SettingsStore, 'current'>;
  bus: Bus;
  runs: Runs;
  planner: TaskPlanner;
  onStep?: ConfirmDeps['onStep'];
}

/** Joins approvals with what they approve. Neither knows the other. */
export const createApprovalService = ({ settings, ...parts }: Parts) =>
  createApprovals({
    ...parts,
    operations: createTaskOperations(parts),
    rules: () => settings.current().ai,
    isFresh: ({ sessionId }) => isFreshlySignedIn(parts.store.read, sessionId, Date.now()),
  });
