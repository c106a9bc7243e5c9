import { createApprovals } from './ai/approvals.ts';
import type { ConfirmDeps } from './ai/approvals-confirm.ts';
import { createDrafts } from './ai/drafts.ts';
import { isFreshlySignedIn } from './ai/reauthentication.ts';
import type { Bus } from './bus/local.ts';
import { createTaskOperations } from './collections/task-operations.ts';
import type { Runs } from './runs/create-runs.ts';
import type { TaskPlanner } from './runs/plan/create-planner.ts';
import { createCalendar } from './runs/schedules/calendar.ts';
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

/** Joins approvals and drafts with the tasks they are about. None of them knows the others. */
export const createApprovalService = ({ settings, ...parts }: Parts) => {
  const calendar = createCalendar(parts);
  const shared = {
    ...parts,
    operations: createTaskOperations({ ...parts, calendar }),
    rules: () => settings.current().ai,
  };
  const approvals = createApprovals({
    ...shared,
    isFresh: ({ sessionId }) => isFreshlySignedIn(parts.store.read, sessionId, Date.now()),
  });
  return { approvals, drafts: createDrafts(shared) };
};
