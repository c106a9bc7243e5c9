import type { Bus } from '../../bus/local.ts';
import type { TaskPlanner } from '../../plan/core/create-planner.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import { createCalendar } from '../../runs/schedules/calendar.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { createDrafts } from '../drafts/drafts.ts';
import type { ConfirmDeps } from './approval-confirm.ts';
import type { AddressFor } from './approval-refusal.ts';
import { createApprovals } from './approvals.ts';
import { isFreshlySignedIn } from './reauthentication.ts';
import { createTaskOperations } from './task-operations.ts';

interface Parts {
  store: Store;
  settings: Pick<SettingsStore, 'current'>;
  bus: Bus;
  runs: Runs;
  planner: TaskPlanner;
  /** Paths without an address when left out. */
  addressFor?: AddressFor;
  onStep?: ConfirmDeps['onStep'];
}

/** Connects approvals and drafts with tasks. None of them imports the others. */
export const createApprovalService = ({ settings, addressFor = () => '', ...parts }: Parts) => {
  const calendar = createCalendar(parts);
  const shared = {
    ...parts,
    addressFor,
    operations: createTaskOperations({ ...parts, calendar }),
    rules: () => settings.current().ai,
  };
  const approvals = createApprovals({
    ...shared,
    isFresh: ({ sessionId }) => isFreshlySignedIn(parts.store.read, sessionId, Date.now()),
  });
  return { approvals, drafts: createDrafts(shared) };
};
