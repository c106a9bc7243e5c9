import type { api } from '@rushhour/contract';
import { isActive, isTerminal, runStatus, statusNameOf } from '@rushhour/contract';
import { clockNow } from '../../clock.ts';
import { orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import { countRunAttempts } from '../../store/runs/run-attempts.ts';
import { newestRunOf, type RunRecord } from '../../store/runs/runs.ts';
import { findTask } from '../../store/tasks/tasks.ts';

export type TaskStatus = Awaited<ReturnType<Handlers<typeof api.tasks>['status']>>['data'];

export interface StatusDeps {
  read: Executor;
  metrics: Pick<Metrics, 'progressOf' | 'totalsOf'>;
  runs: Pick<Runs, 'queuePositionOf'>;
}

/** Seconds of traffic so far, without pauses. */
export const elapsedSecOf = (
  { t0, finishedAt, pausedAt, pausedMs, plannedSec }: Omit<RunRecord, 'id'>,
  now: number,
): number => {
  if (t0 === null) return 0;
  const end = Math.min(...[finishedAt, pausedAt].map((at) => (at === null ? now : Date.parse(at))), now);
  const elapsed = Math.max(0, (end - t0 - pausedMs) / 1000);
  return plannedSec === null ? elapsed : Math.min(elapsed, plannedSec);
};

/** Planned attempts by run; they never change. */
const planned = new WeakMap<Executor, Map<number, number>>();
const maxKnown = 200;

const plannedAttemptsOf = async (read: Executor, runId: number): Promise<number> => {
  const known = planned.get(read) ?? new Map<number, number>();
  planned.set(read, known);
  const count = known.get(runId) ?? (await countRunAttempts(read, runId));
  known.set(runId, count);
  if (known.size > maxKnown) known.delete(known.keys().next().value as number);
  return count;
};

const isAttempt = (metric: string) => /^[^.]+\.(sent|benign)$/.test(metric);

/** The share of the planned attempts that were made; 0 for a run without any. */
const attemptedShare = async ({ read, metrics }: Pick<StatusDeps, 'read' | 'metrics'>, runId: number) => {
  const count = await plannedAttemptsOf(read, runId);
  if (count === 0) return 0;
  const totals = await metrics.totalsOf(runId);
  return totals.filter(({ metric }) => isAttempt(metric)).reduce((sum, one) => sum + (one.sum ?? 0), 0) / count;
};

/** By time, or by attempts where a run has no planned length. */
const progressOf = async (deps: StatusDeps, run: RunRecord, elapsedSec: number) => {
  const { id, status, plannedSec } = run;
  if (status === runStatus.finished) return 1;
  return Math.min(1, plannedSec ? elapsedSec / plannedSec : await attemptedShare(deps, id));
};

type Shown = Omit<TaskStatus, 'status' | 'statusName' | 'runId' | 'error'>;

const idle: Shown = {
  phase: '',
  progress: 0,
  elapsedSec: 0,
  remainingSec: null,
  paused: false,
  health: 'ok',
  agents: [],
  stopReason: '',
  verdict: 0,
};

const statusOfRun = async (deps: StatusDeps, run: RunRecord): Promise<Shown> => {
  const { read, metrics, runs } = deps;
  const { id, status, plannedSec, health, stopReason, verdict } = run;
  const elapsedSec = elapsedSecOf(run, clockNow());
  const isMoving = status === runStatus.running || status === runStatus.paused || status === runStatus.stopping;
  const position = status === runStatus.queued ? await runs.queuePositionOf(id) : undefined;
  return {
    phase: isMoving ? ((await metrics.progressOf(id)).phase ?? '') : '',
    progress: await progressOf(deps, run, elapsedSec),
    elapsedSec,
    remainingSec: isTerminal(status) ? 0 : plannedSec === null ? null : Math.max(0, plannedSec - elapsedSec),
    paused: status === runStatus.paused,
    health,
    ...(position !== undefined && { queuePosition: position }),
    agents: (await runAgentsOf(read, id)).map(({ agentID, name, state }) => ({ id: agentID, name, state })),
    stopReason,
    verdict,
  };
};

/** The status of a task. Throws for an unknown task. */
export const readTaskStatus = async (deps: StatusDeps, taskId: number): Promise<TaskStatus> => {
  const task = await orNotFound(findTask(deps.read, taskId), 'task', taskId);
  const run = await newestRunOf(deps.read, taskId);
  // A task changed since its last run shows only the number of that run.
  const shown = run && (isActive(task.status) || isTerminal(task.status)) ? await statusOfRun(deps, run) : idle;
  return {
    status: task.status,
    statusName: statusNameOf(task.status) ?? '',
    ...shown,
    runId: run?.id ?? null,
    error: task.error,
  };
};
