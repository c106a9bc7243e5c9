import type { FileService } from '../assets/files/file-service.ts';
import type { Bus } from '../bus/local.ts';
import type { Store } from '../store/store.ts';
import { type NewNotification, notify } from '../store/system/notifications.ts';
import type { Agents } from './gateway/agents.ts';

export interface ActionDeps {
  store: Store;
  bus: Bus;
  agents: Agents;
  files: FileService;
}

/** A long-running action and the user who requested it. */
export interface Operation {
  readonly operationId: string;
  readonly userID: number;
}

/** Notifies the user who requested a long-running action of its outcome. */
export const reportOperation = (
  { store, bus }: { store: Store; bus: Bus },
  { operationId, userID }: Operation,
  report: Pick<NewNotification, 'severity' | 'kind' | 'message' | 'entity'>,
) => {
  const origin = { userId: userID, address: '', requestId: operationId, operation: 'agents.actions' };
  return store.change(origin, async (tx) => {
    tx.note({ operationId, outcome: report.message });
    await notify(tx, bus, { ...report, audience: { userID } });
  });
};
