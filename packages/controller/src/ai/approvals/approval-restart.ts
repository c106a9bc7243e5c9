import { isActive } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { ApiError } from '../../errors.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import { type ApprovalRecord, aiApprovals, restartingApprovals } from '../../store/ai/ai-approvals.ts';
import type { Change, Origin } from '../../store/engine/change.ts';
import { newestRunOf } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { findOwner } from './approval-owner.ts';

interface Deps {
  readonly store: Store;
  readonly bus: Bus;
  readonly runs: Pick<Runs, 'check' | 'enqueue'>;
}

const originOf = ({ ownerID }: ApprovalRecord): Origin => ({
  ...{ userId: ownerID, address: '', requestId: '', operation: 'aiGateway.restart' },
});

/** Restarts tasks whose runs were stopped for it. Pending restarts are stored and survive a crash. */
export const createRestarts = ({ store, runs }: Deps) => {
  /** In the transaction that starts the task, so that it starts once. */
  const settle = async (tx: Change, id: number, taskId: number, note: Record<string, unknown>, runId?: number) => {
    const record = await aiApprovals.find(tx, id);
    if (!record?.restarting.includes(taskId)) return;
    tx.note({ approvalId: id, ...note });
    await aiApprovals.update(tx, id, {
      restarting: record.restarting.filter((one) => one !== taskId),
      ...(runId !== undefined && { runIDs: [...record.runIDs, runId] }),
    });
  };

  const startAgain = async (record: ApprovalRecord, taskId: number) => {
    const owner = await findOwner(store.read, record.ownerID);
    if (owner === undefined) throw new ApiError('forbidden', 'OWNER_BLOCKED', 'the owner of the key is gone');
    const { id: userId, permissions } = owner;
    const body = { reason: record.reason };
    const checked = await runs.check({ taskId, userId, permissions, by: 'ai', body });
    await store.change(originOf(record), async (tx) => {
      const present = await aiApprovals.find(tx, record.id);
      if (!present?.restarting.includes(taskId)) return;
      const { runId } = await runs.enqueue(tx, checked);
      await settle(tx, record.id, taskId, {}, runId);
    });
  };

  const goOn = async (record: ApprovalRecord, taskId: number) => {
    const run = await newestRunOf(store.read, taskId);
    if (run !== undefined && isActive(run.status)) return;
    try {
      await startAgain(record, taskId);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // It was started elsewhere or can no longer be started: nothing is left to do.
      if (error.code === 'STALE_OBJECT') return;
      await store.change(originOf(record), (tx) => settle(tx, record.id, taskId, { code: error.code, taskId }));
    }
  };

  return async () => {
    for (const record of await restartingApprovals(store.read)) {
      for (const taskId of record.restarting) await goOn(record, taskId);
    }
  };
};
