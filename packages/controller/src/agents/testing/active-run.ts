import { statement } from '../../store/engine/statement.ts';
import { createTable } from '../../store/engine/table.ts';
import type { Store } from '../../store/store.ts';

const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
const tasks = createTable('tasks');
const runs = createTable('runs');
const join = statement((db, p: { runID: number; agentID: number; now: string }) =>
  db.insertInto('runAgents').values({
    ...{ runID: p.runID, agentID: p.agentID, updatedAt: p.now },
    ...{ name: '', role: 'client', state: 'running', bootId: '', orders: '[]', error: '' },
  } as never),
);

const noTask = { error: '', accessPlane: [], controlPlane: [], configuration: [], dumps: {}, thresholds: [] };
const noRun = {
  ...{ number: 1, stopReason: '', stopMode: '', verdict: 0, validity: { valid: true, reasons: [] }, health: 'ok' },
  ...{ comment: '', labels: {}, startedBy: 1, origin: 'user', priority: 0, pausedMs: 0, epoch: 1, attempt: 1 },
  ...{ definition: {} as never, definitionSecrets: {}, definitionHash: '', thresholds: [], agentLossPolicy: 'auto' },
  ...{ summary: {}, pinned: false, error: '' },
};

/** A task that is running on these agents, as the conductor leaves it in the store. */
export const insertActiveRun = (store: Store, agentIds: readonly number[], status = 4) =>
  store.change(origin, async (tx) => {
    const taskID = await tasks.insert(tx, {
      ...noTask,
      ...{ comment: 'busy', status, configurationSecrets: {}, scheduleEnabled: false },
    });
    const runID = await runs.insert(tx, { ...noRun, taskID, status, queuedAt: tx.now });
    for (const agentID of agentIds) await join.all(tx, { runID, agentID, now: tx.now });
    return { taskID, runID };
  });

export const endRun = (store: Store, runID: number) =>
  store.change(origin, (tx) => runs.update(tx, runID, { status: 7 }));
