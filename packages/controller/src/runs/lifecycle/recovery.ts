import type { Settings } from '@rushhour/contract';
import { runStatus } from '@rushhour/contract';
import { clockNow } from '../../clock.ts';
import { setRunAgents } from '../../store/runs/run-agents.ts';
import type { RunPatch } from '../../store/runs/runs.ts';
import type { ActiveRunCache } from './active-run-cache.ts';
import { queueDeadline, stopDeadline } from './deadlines.ts';
import type { RunEnding } from './run-ending.ts';
import { isDone, type RunView } from './run-view.ts';
import type { RunWriter } from './run-writer.ts';

const maxAttempts = 2;

export type Recovery =
  | { readonly kind: 'wait' }
  | { readonly kind: 'requeue' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'reconnect' };

/** Decides about a run that was active when the controller stopped. A run that sent traffic is never repeated. */
export const recoveryOf = ({ run }: RunView, now: number): Recovery => {
  if (run.status === runStatus.queued) return { kind: 'wait' };
  const isSending = run.status > runStatus.armed || (run.t0 !== null && run.t0 <= now);
  if (isSending) return { kind: 'reconnect' };
  return { kind: run.attempt < maxAttempts ? 'requeue' : 'fail' };
};

interface Deps {
  writer: RunWriter;
  ending: RunEnding;
  activeRuns: ActiveRunCache;
  settings: { current(): Settings };
  isOnline(agentId: number): boolean;
}

/** Resumes runs that this controller did not conduct before. Agents that hold abandoned runs get the command when they reconnect. */
export const createRecovery = ({ writer, ending, activeRuns, settings, isOnline }: Deps) => {
  const requeue = ({ run }: RunView) => {
    const patch: RunPatch = {
      epoch: run.epoch + 1,
      attempt: run.attempt + 1,
      t0: null,
      deadlineAt: queueDeadline(settings.current().tasks, clockNow(), run.notBefore),
    };
    const message = 'the controller was restarted before the common start';
    return writer.move(run.id, { trigger: 'requeue', source: 'controller', patch, message }, (tx) =>
      setRunAgents(tx, run.id, []),
    );
  };

  /** Agents continue on their own; they get time to reconnect, and the run to end. */
  const reconnect = async ({ run, agents }: RunView) => {
    const { tasks } = settings.current();
    const until = clockNow() + tasks.recoveryGraceSec * 1000;
    const missing = agents.filter((agent) => !isDone(agent) && !isOnline(agent.agentID));
    activeRuns.await(
      run.id,
      missing.map(({ agentID }) => agentID),
      until,
    );
    const earliest = run.status === runStatus.stopping ? stopDeadline(tasks, until) : new Date(until).toISOString();
    const isLater = run.deadlineAt === null || run.deadlineAt > earliest;
    await writer.edit(run.id, () => ({
      patch: { health: 'recovering', ...(!isLater && { deadlineAt: earliest }) },
      events: [
        { type: 'recovering', severity: 'warning', source: 'controller', message: 'the controller was restarted' },
      ],
    }));
  };

  return async (view: RunView, now: number) => {
    const { kind } = recoveryOf(view, now);
    if (kind === 'requeue') await requeue(view);
    else if (kind === 'fail') {
      await ending.fail(view, 'controllerRestart', 'the controller was restarted twice before the common start');
    } else if (kind === 'reconnect') await reconnect(view);
  };
};
