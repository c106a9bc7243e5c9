import { isActive, permissions, runStatus, statusNameOf } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { clockNowIso } from '../../clock.ts';
import { conflict } from '../../errors.ts';
import type { Change, Origin } from '../../store/engine/change.ts';
import { putRunAgents, runAgentsOf } from '../../store/runs/run-agents.ts';
import { appendBounded, appendEvent } from '../../store/runs/run-events.ts';
import { keepNeedsReset } from '../../store/runs/run-queue.ts';
import { lockRun, mirrorRun, patchRun, type RunPatch, type RunRecord, type Writing } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { type Changes, isEmptyChange } from './changes.ts';
import type { RunLeases } from './run-leases.ts';
import type { RunView } from './run-view.ts';
import { allowedFrom, type Trigger, transitionOf } from './task-state.ts';

export interface Move {
  readonly trigger: Trigger;
  /** Who or what: `user:<id>`, `schedule`, `ai`, `controller`. */
  readonly source: string;
  readonly patch?: RunPatch;
  /** Reason shown to users. */
  readonly message?: string;
}

export const illegalMove = (run: Pick<RunRecord, 'id' | 'status'>) =>
  conflict('ILLEGAL_TRANSITION', `the task is ${statusNameOf(run.status)}`, {
    from: run.status,
    allowed: allowedFrom(run.status),
    runId: run.id,
  });

/** Publishes a changed run after the commit. */
export const announce = (tx: Writing, bus: Bus, { id, taskID, status }: RunRecord) =>
  tx.afterCommit(() => {
    bus.publish('task.status', { id: taskID, status, permission: permissions['tasks.read'] });
    bus.publish('run.changed', { runId: id });
  });

/** Records the new status of a run in its history and its task. */
export const recordStatus = async (
  tx: Writing,
  bus: Bus,
  run: RunRecord,
  { source, message }: Omit<Move, 'trigger'>,
) => {
  const { id, status, stopReason } = run;
  await appendEvent(tx, id, {
    type: 'status',
    severity: status === runStatus.failed ? 'error' : 'info',
    source,
    message: `${statusNameOf(status)}${message ? `: ${message}` : ''}`,
    data: { status, ...(stopReason !== '' && { stopReason }) },
  });
  await mirrorRun(tx, run);
  announce(tx, bus, run);
};

/** Moves a run along the transition table: one guarded statement, an event and the task, atomically. */
export const moveRun = async (tx: Writing, bus: Bus, runId: number, move: Move): Promise<RunRecord> => {
  const { from, to } = transitionOf(move.trigger);
  const moved = await patchRun(tx, { id: runId, from, patch: { ...move.patch, status: to } });
  if (moved === undefined) {
    const present = await lockRun(tx, runId);
    throw illegalMove(present ?? { id: runId, status: 0 });
  }
  await recordStatus(tx, bus, moved, move);
  return moved;
};

const systemOrigin = (operation: string): Origin => ({ userId: null, address: '', requestId: '', operation });

interface Deps {
  store: Store;
  bus: Bus;
  leases: Pick<RunLeases, 'assertOwned'>;
}

/** A transaction without an audit entry: an agent's report is no user action. */
const quietly = async <T>({ store }: Deps, work: (tx: Writing) => Promise<T>): Promise<T> => {
  const after: (() => void)[] = [];
  const result = await store.database.transaction((tx) =>
    work({
      engine: tx.engine,
      run: tx.run,
      now: clockNowIso(),
      afterCommit: (call) => void after.push(call),
    }),
  );
  for (const call of after) call();
  return result;
};

/**
 * Changes a run's data without a transition. `decide` sees the current row, locked until the commit. A run that has
 * ended has no owner.
 */
const editRun =
  (deps: Deps) =>
  (runId: number, decide: (view: RunView) => Changes | undefined): Promise<boolean> =>
    quietly(deps, async (tx) => {
      const run = await lockRun(tx, runId);
      if (run === undefined) return false;
      if (isActive(run.status)) await deps.leases.assertOwned(tx, runId);
      const changes = decide({ run, agents: await runAgentsOf(tx, runId) }) ?? {};
      if (isEmptyChange(changes)) return false;
      const { agents = [], patch, events = [], toReset = [] } = changes;
      if (patch) await patchRun(tx, { id: runId, from: [run.status], patch });
      await putRunAgents(tx, agents);
      for (const event of events) await appendBounded(tx, runId, event);
      for (const agentId of toReset) await keepNeedsReset(tx, agentId, true);
      if (isActive(run.status)) tx.afterCommit(() => deps.bus.publish('run.changed', { runId }));
      return true;
    });

/** Writes runs on behalf of their owner; throws `RunGivenAway` when that is another controller. */
export const createRunWriter = (deps: Deps) => {
  const { bus, store, leases } = deps;

  return {
    move: (runId: number, move: Move, also?: (tx: Writing, run: RunRecord) => Promise<unknown>) =>
      quietly(deps, async (tx) => {
        await leases.assertOwned(tx, runId);
        const run = await moveRun(tx, bus, runId, move);
        await also?.(tx, run);
        return run;
      }),

    /** The same with an entry in the audit chain. */
    moveAudited: (
      operation: string,
      runId: number,
      move: Move,
      also?: (tx: Change, run: RunRecord) => Promise<unknown>,
    ) =>
      store.change(systemOrigin(operation), async (tx) => {
        await leases.assertOwned(tx, runId);
        tx.touch('runs', runId);
        const run = await moveRun(tx, bus, runId, move);
        tx.note({ taskID: run.taskID, status: run.status, stopReason: run.stopReason });
        await also?.(tx, run);
        return run;
      }),

    edit: editRun(deps),
  };
};

export type RunWriter = ReturnType<typeof createRunWriter>;
