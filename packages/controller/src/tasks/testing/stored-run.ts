import { mirrorRun, type RunRecord, runs } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';

const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };

const noRun = {
  ...{ stopReason: '', stopMode: '', validity: { valid: true, reasons: [] }, health: 'ok', comment: '', labels: {} },
  ...{ startedBy: 1, origin: 'user', priority: 0, pausedMs: 0, epoch: 1, attempt: 1, definition: {} as never },
  ...{ definitionSecrets: {}, definitionHash: '', thresholds: [], agentLossPolicy: 'auto', summary: {}, pinned: false },
};

/** The conductor leaves such a run where it is: in the queue. */
const waiting = { notBefore: '2999-01-01T00:00:00.000Z', deadlineAt: '2999-01-02T00:00:00.000Z' };

/** A run of a task, ended or (status 1) waiting, and the task with its state. */
export const storeRun = (
  store: Store,
  taskID: number,
  {
    number = 1,
    status = 7,
    verdict = 0,
    error = '',
  }: { number?: number; status?: number; verdict?: number; error?: string },
): Promise<number> =>
  store.change(origin, async (tx) => {
    const run = { ...noRun, ...(status === 1 && waiting), number, status, verdict, error, queuedAt: tx.now };
    const id = await runs.insert(tx, { ...run, taskID, startedAt: tx.now });
    await mirrorRun(tx, { ...run, id, taskID, startedAt: tx.now, finishedAt: null } as unknown as RunRecord);
    return id;
  });
