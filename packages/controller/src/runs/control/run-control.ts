import {
  findPlugin,
  isActive,
  type LoadChange,
  type PlaneCommand,
  runStatus,
  type StopReason,
  type Task,
} from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { clockNow, clockNowIso } from '../../clock.ts';
import { conflict } from '../../errors.ts';
import { captureOf } from '../../plan/core/capture.ts';
import type { Change } from '../../store/engine/change.ts';
import { putRunAgents, runAgentsOf } from '../../store/runs/run-agents.ts';
import { appendEvent } from '../../store/runs/run-events.ts';
import { lockRun, newestRunOf, patchRun, type RunPatch, type RunRecord } from '../../store/runs/runs.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { pauseDeadline, runningDeadline, stopDeadline, type Timing } from '../lifecycle/deadlines.ts';
import { jobsOf } from '../lifecycle/run-view.ts';
import { announce, illegalMove, moveRun } from '../lifecycle/run-writer.ts';
import { allowedFrom } from '../lifecycle/task-state.ts';
import { changeLoads } from './load-change.ts';
import { addCommands } from './plane-commands.ts';

interface Deps {
  bus: Bus;
  settings: Pick<SettingsStore, 'current'>;
  timing: Timing;
}

export interface StopRequest {
  readonly mode?: 'graceful' | 'abort' | undefined;
  readonly reason: Extract<StopReason, 'user' | 'ai' | 'schedule' | 'deleted'>;
  /** Reason given by the requester. */
  readonly note?: string | undefined;
}

export interface RunState {
  runId: number;
  status: number;
}

const stateOf = ({ id, status }: RunRecord): RunState => ({ runId: id, status });
const sourceIn = (tx: Change) => (tx.userId === null ? 'controller' : `user:${tx.userId}`);

/** Time that the ending pause adds to the run. */
const afterPause = ({ pausedAt, pausedMs }: RunRecord, now: string): RunPatch =>
  pausedAt === null ? {} : { pausedAt: null, pausedMs: pausedMs + Math.max(1, Date.parse(now) - Date.parse(pausedAt)) };

/** The active run, locked until the change is committed. */
const activeRun = async (tx: Change, taskId: number): Promise<RunRecord> => {
  const newest = await newestRunOf(tx, taskId);
  const run = newest && (await lockRun(tx, newest.id));
  if (run === undefined)
    throw conflict('ILLEGAL_TRANSITION', 'the task has no run', { from: 0, allowed: allowedFrom(0) });
  if (!isActive(run.status)) throw illegalMove(run);
  tx.touch('tasks', taskId);
  tx.touch('runs', run.id);
  return run;
};

const escalate = async ({ settings, bus }: Deps, tx: Change, run: RunRecord): Promise<RunRecord> => {
  const deadlineAt = stopDeadline(settings.current().tasks, clockNow());
  const patch = { stopMode: 'abort', deadlineAt };
  const patched = (await patchRun(tx, { id: run.id, from: [runStatus.stopping], patch })) as RunRecord;
  await appendEvent(tx, run.id, { type: 'abort', source: sourceIn(tx), message: 'stopping at once' });
  announce(tx, bus, patched);
  return patched;
};

/** Stops the run of a task in any state; idempotent. */
const stopRun =
  (deps: Deps) =>
  async (tx: Change, taskId: number, { mode = 'graceful', reason, note = '' }: StopRequest): Promise<RunState> => {
    const { bus, settings } = deps;
    const run = await activeRun(tx, taskId);
    if (note) tx.note({ reason: note });
    if (run.status === runStatus.stopping) {
      return stateOf(mode === 'abort' && run.stopMode !== 'abort' ? await escalate(deps, tx, run) : run);
    }
    const now = clockNow();
    const source = reason === 'ai' || reason === 'schedule' ? reason : sourceIn(tx);
    const move = { source, message: note };
    if (run.status === runStatus.queued) {
      const patch = { stopReason: reason, finishedAt: clockNowIso(), deadlineAt: null, health: 'ok' };
      return stateOf(await moveRun(tx, bus, run.id, { ...move, trigger: 'withdraw', patch }));
    }
    const patch = {
      ...afterPause(run, clockNowIso()),
      endStatus: runStatus.stopped,
      stopReason: reason,
      stopMode: mode,
      deadlineAt: stopDeadline(settings.current().tasks, now),
    };
    return stateOf(await moveRun(tx, bus, run.id, { ...move, trigger: 'stop', patch }));
  };

/** Changes, starts or stops the packet capture. Omitted members keep their values. */
const changeCapture =
  ({ settings, bus }: Deps) =>
  async (tx: Change, taskId: number, dumps: Task['dumps']) => {
    const run = await activeRun(tx, taskId);
    if (run.status !== runStatus.running && run.status !== runStatus.paused) throw illegalMove(run);
    const before = run.capture.dumps ?? run.definition.dumps;
    const after = { ...before, ...dumps };
    const agents = await runAgentsOf(tx, run.id);
    const [was, is] = [before, after].map(
      (capture) => captureOf(capture, settings.current().dumps, agents.length) ?? null,
    );
    if (JSON.stringify(was) === JSON.stringify(is)) return;
    const patch = { capture: { dumps: after, wish: is ?? null, revision: (run.capture.revision ?? 0) + 1 } };
    const patched = (await patchRun(tx, { id: run.id, from: [run.status], patch })) as RunRecord;
    await appendEvent(tx, run.id, {
      type: 'captureChanged',
      source: sourceIn(tx),
      message: is ? `packet capture started, up to ${is.savelen} bytes per packet` : 'packet capture stopped',
      data: { dumps: after },
    });
    tx.note({ dumps: after });
    announce(tx, bus, patched);
  };

const changeLoad =
  ({ bus }: Deps) =>
  async (tx: Change, taskId: number, changes: readonly LoadChange[]) => {
    const run = await activeRun(tx, taskId);
    if (run.status !== runStatus.running && run.status !== runStatus.paused) throw illegalMove(run);
    const { accepted, rejected, agents } = changeLoads({ run, agents: await runAgentsOf(tx, run.id) }, changes);
    const applied = [...new Set(accepted.map(({ index }) => index))];
    if (applied.length > 0) {
      await putRunAgents(tx, agents);
      await appendEvent(tx, run.id, {
        type: 'loadChanged',
        source: sourceIn(tx),
        message: `new load for ${applied.map((index) => `entry ${index}`).join(', ')}`,
        data: { changes: accepted },
      });
      announce(tx, bus, run);
    }
    return { applied, rejected };
  };

const giveCommands =
  ({ bus }: Deps) =>
  async (tx: Change, taskId: number, commands: readonly PlaneCommand[]) => {
    if (commands.length === 0) return [];
    const run = await activeRun(tx, taskId);
    if (run.status !== runStatus.running) throw illegalMove(run);
    const { outcomes, agents } = addCommands({ run, agents: await runAgentsOf(tx, run.id) }, commands);
    await putRunAgents(tx, agents);
    for (const [index, { plane, index: entry, action }] of commands.entries()) {
      if (outcomes[index]?.reason !== '') continue;
      const message = `${action} for entry ${entry} of ${plane === 'configuration' ? plane : `${plane}Plane`}`;
      await appendEvent(tx, run.id, { type: 'command', source: sourceIn(tx), message, data: { ...commands[index] } });
    }
    announce(tx, bus, run);
    return outcomes;
  };

/** User actions on the run of a task. Only the store changes here; the conductor sends commands to the agents. */
export const createRunControl = (deps: Deps) => {
  const { settings, bus, timing } = deps;

  return {
    stop: stopRun(deps),

    pause: async (tx: Change, taskId: number, note = ''): Promise<RunState> => {
      const run = await activeRun(tx, taskId);
      if (run.status !== runStatus.running) throw illegalMove(run);
      const jobs = jobsOf({ run, agents: await runAgentsOf(tx, run.id) });
      const stuck = new Set(jobs.filter(({ job }) => !job.canPause).map(({ job }) => job.pluginId));
      if (stuck.size > 0) {
        const plugins = [...stuck].map((id) => ({ id, name: findPlugin(id)?.name ?? '' }));
        throw conflict('CANNOT_PAUSE', `${plugins.map(({ name }) => name).join(', ')} cannot pause`, { plugins });
      }
      const patch = { pausedAt: clockNowIso(), deadlineAt: pauseDeadline(settings.current().tasks, clockNow()) };
      const move = { trigger: 'pause', source: sourceIn(tx), patch, message: note } as const;
      return stateOf(await moveRun(tx, bus, run.id, move));
    },

    resume: async (tx: Change, taskId: number): Promise<RunState> => {
      const run = await activeRun(tx, taskId);
      if (run.status !== runStatus.paused) throw illegalMove(run);
      const after = afterPause(run, clockNowIso());
      const patch = { ...after, deadlineAt: runningDeadline({ ...run, ...after }, timing) };
      return stateOf(await moveRun(tx, bus, run.id, { trigger: 'resume', source: sourceIn(tx), patch }));
    },

    changeLoad: changeLoad(deps),

    command: giveCommands(deps),

    changeCapture: changeCapture(deps),
  };
};
