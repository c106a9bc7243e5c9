import { isActive, runStatus, type Task } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { clockNow, clockNowIso } from '../../clock.ts';
import { conflict } from '../../errors.ts';
import type { Change } from '../../store/engine/change.ts';
import { UniqueViolation } from '../../store/engine/database.ts';
import { deviceLabels } from '../../store/runs/run-devices.ts';
import { activeRuns, newestRunOf, patchRun, type RunRecord, runs } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { tasks } from '../../store/tasks/tasks.ts';
import { queueDeadline } from '../lifecycle/deadlines.ts';
import { definitionHash, sealSecrets } from '../lifecycle/run-definition.ts';
import type { RunLeases } from '../lifecycle/run-leases.ts';
import { illegalMove, recordStatus } from '../lifecycle/run-writer.ts';
import { noteSamples } from '../verdict/note-samples.ts';
import type { MadePlan } from './planner.ts';
import type { CheckedStart } from './start-check.ts';

interface Deps {
  store: Store;
  settings: Pick<SettingsStore, 'current'>;
  bus: Bus;
  leases: Pick<RunLeases, 'claim'>;
  /** Takes the plan of the check, so that the queue need not plan again. */
  keepPlan(runId: number, made: MadePlan): void;
}

export interface StartedRun {
  runId: number;
  status: number;
  queuePosition?: number;
}

const defaultPriority = 5;

export const sourceOf = (by: 'user' | 'ai' | 'schedule', userId: number | null) =>
  by === 'user' ? `user:${userId}` : by;

/** A run is labelled with the device under test of its task. */
const labelsOfDevice = (device: Task['device']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(device ?? {}).map(([member, value]) => [deviceLabels[member as keyof typeof deviceLabels], value]),
  );

const newRun = (start: CheckedStart, settings: ReturnType<SettingsStore['current']>) => {
  const { task, body, by, userId, priority = defaultPriority } = start;
  const notBefore = body.at === undefined ? null : new Date(body.at).toISOString();
  return {
    taskID: task.id,
    status: runStatus.queued,
    stopReason: '',
    endStatus: null,
    stopMode: '',
    verdict: 0,
    validity: { valid: true, reasons: [] },
    health: 'ok',
    comment: body.comment ?? '',
    labels: { ...labelsOfDevice(task.device), ...body.labels },
    startedBy: userId,
    origin: by,
    priority,
    notBefore,
    queuedAt: clockNowIso(),
    startedAt: null,
    finishedAt: null,
    deadlineAt: queueDeadline(settings.tasks, clockNow(), notBefore),
    t0: null,
    plannedSec: start.plan.plannedSec === null ? null : Math.ceil(start.plan.plannedSec),
    pausedAt: null,
    pausedMs: 0,
    epoch: 1,
    attempt: 1,
    definition: start.definition,
    definitionSecrets: {},
    definitionHash: definitionHash(start.definition),
    capture: {},
    thresholds: body.thresholds ?? task.thresholds,
    agentLossPolicy: body.agentLossPolicy ?? settings.tasks.agentLossPolicy,
    summary: {},
    pinned: false,
    expiresAt: null,
    error: '',
  } satisfies Omit<RunRecord, 'id' | 'number' | 'createdAt' | 'updatedAt'>;
};

/** Enqueues a checked start. Two at once are impossible: changes are serial and the database enforces it. */
export const createEnqueue = ({ store, settings, bus, leases, keepPlan }: Deps) => {
  const insert = async (tx: Change, start: CheckedStart): Promise<RunRecord> => {
    const before = await newestRunOf(tx, start.taskId);
    if (before && isActive(before.status)) throw illegalMove(before);
    const values = newRun(start, settings.current());
    const id = await runs.insert(tx, { ...values, number: (before?.number ?? 0) + 1 }).catch((error) => {
      if (!(error instanceof UniqueViolation)) throw error;
      throw conflict('ILLEGAL_TRANSITION', 'the task has an active run', { id: start.taskId });
    });
    const patch = { definitionSecrets: sealSecrets(start.secrets, store.secrets, id) };
    return (await patchRun(tx, { id, from: [runStatus.queued], patch })) as RunRecord;
  };

  return async (tx: Change, start: CheckedStart): Promise<StartedRun> => {
    const task = await tasks.find(tx, start.taskId);
    if (task?.updatedAt !== start.task.updatedAt || task.deletedAt !== null) {
      throw conflict('STALE_OBJECT', 'the task was changed while it was checked', { id: start.taskId });
    }
    const run = await insert(tx, start);
    await leases.claim(
      tx,
      run.id,
      start.plan.agents.map(({ agentId }) => agentId),
    );
    tx.touch('tasks', start.taskId);
    if (start.body.reason) tx.note({ reason: start.body.reason });
    await noteSamples(tx, start);
    tx.afterCommit(() => keepPlan(run.id, { plan: start.plan, at: start.plannedAt }));
    await recordStatus(tx, bus, run, { source: sourceOf(start.by, start.userId), message: start.body.reason ?? '' });
    const waiting = (await activeRuns(tx)).filter(({ status }) => status === runStatus.queued);
    return {
      runId: run.id,
      status: run.status,
      queuePosition: waiting.findIndex(({ id }) => id === run.id) + 1,
    };
  };
};
