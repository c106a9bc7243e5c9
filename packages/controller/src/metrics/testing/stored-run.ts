import { createTable } from '../../store/engine/table.ts';
import { setRunAgents } from '../../store/runs/run-agents.ts';
import { type RunJob, type RunRecord, runs } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';

const tasks = createTable('tasks');
const origin = { userId: null, address: '', requestId: 'test', operation: 'test' };

export const jobOf = (job: Partial<RunJob> = {}): RunJob => ({
  ...{ entry: 0, pluginId: 1, role: 'client', engine: 'http', target: '10.0.0.1:80', share: 1, startAfterSec: 0 },
  ...{ canPause: true, canChangeLoad: true, load: null, outcome: null },
  ...job,
});

export interface StoredRun {
  t0?: number | null;
  status?: number;
  taskId?: number;
  /** Jobs by the id of the agent that has them. */
  agents?: Record<number, RunJob[]>;
  run?: Partial<RunRecord>;
}

const emptyRun = {
  ...{ stopReason: '', endStatus: null, stopMode: '', verdict: 0, validity: { valid: true, reasons: [] } },
  ...{ health: 'ok', comment: '', labels: {}, startedBy: null, origin: 'user', priority: 5, notBefore: null },
  ...{ queuedAt: '2026-01-01T00:00:00.000Z', startedAt: null, finishedAt: null, deadlineAt: null, plannedSec: 60 },
  ...{ pausedAt: null, pausedMs: 0, epoch: 0, attempt: 1, definitionSecrets: {}, definitionHash: '', thresholds: [] },
  ...{ agentLossPolicy: 'auto', summary: {}, pinned: false, expiresAt: null, error: '' },
  definition: { comment: '', accessPlane: [], controlPlane: [], configuration: [], dumps: {} },
};

/** A task with a run as the conductor would have left it. */
export const storeRun = (
  store: Store,
  { t0 = Date.now(), status = 4, taskId, agents = { 1: [jobOf()] }, run = {} }: StoredRun = {},
) =>
  store.change(origin, async (tx) => {
    const empty = { accessPlane: [], controlPlane: [], configuration: [], dumps: {} };
    const taskID =
      taskId ?? (await tasks.insert(tx, { comment: 'a task', status, error: '', scheduleEnabled: false, ...empty }));
    const runId = await runs.insert(tx, { ...emptyRun, taskID, number: 1, status, t0, ...run });
    await tasks.update(tx, taskID, { lastRunID: runId, status });
    await setRunAgents(
      tx,
      runId,
      Object.entries(agents).map(([agentID, orders]) => ({
        ...{ agentID: Number(agentID), name: `agent ${agentID}`, role: orders[0]?.role ?? 'client' },
        ...{ state: 'running', bootId: '', orders, error: '' },
      })),
    );
    return { taskId: taskID, runId, t0: t0 ?? 0 };
  });

export const setRun = (store: Store, runId: number, values: Partial<RunRecord>) =>
  store.change(origin, async (tx) => {
    await runs.update(tx, runId, values);
  });
