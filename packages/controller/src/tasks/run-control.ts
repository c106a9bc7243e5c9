import type { api, StartBody } from '@rushhour/contract';
import { isActive } from '@rushhour/contract';
import type { Caller } from '../caller.ts';
import { ApiError, conflict, forbidden, orNotFound } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { allows } from '../people/permissions.ts';
import type { Runs } from '../runs/lifecycle/create-runs.ts';
import type { Change, Origin } from '../store/engine/change.ts';
import type { Executor } from '../store/engine/database.ts';
import { newestRunOf } from '../store/runs/runs.ts';
import type { Store } from '../store/store.ts';
import type { SettingsStore } from '../store/system/settings.ts';
import { findTask } from '../store/tasks/tasks.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  runs: Runs;
}

type Action = 'start' | 'stop' | 'abort' | 'pause' | 'resume';

/** One of several transactions of a request: only the last one stores its reply. */
const withoutKey = ({ userId, address, requestId, operation }: Caller): Origin => ({
  ...{ userId, address, requestId, operation },
});

const assertTask = async (executor: Executor, id: number) => {
  await orNotFound(findTask(executor, id), 'task', id);
};

/** Refusals for a missing permission are audited. */
const check = ({ runs, store }: Deps, caller: Caller, taskId: number, body: StartBody, isRestart = false) =>
  runs
    .check({ taskId, body, userId: caller.userId, permissions: caller.permissions, by: 'user', isRestart })
    .catch(async (error) => {
      if (error instanceof ApiError && error.kind === 'forbidden') {
        await store.change(withoutKey(caller), async (tx) => tx.deny({ ...error.data, id: taskId }));
      }
      throw error;
    });

const steer = async (
  { runs }: Deps,
  tx: Change,
  taskId: number,
  action: Exclude<Action, 'start'>,
  note: string | undefined,
) => {
  await assertTask(tx, taskId);
  if (action === 'pause') return runs.pause(tx, taskId, note);
  if (action === 'resume') return runs.resume(tx, taskId);
  return runs.stop(tx, taskId, { mode: action === 'abort' ? 'abort' : 'graceful', reason: 'user', note });
};

/** Stops the active run, waits for its end and returns it. */
const endPresent = async (
  { store, runs, settings }: Deps,
  caller: Caller,
  taskId: number,
  mode: 'graceful' | 'abort' | undefined,
) => {
  const present = await newestRunOf(store.read, taskId);
  if (present === undefined || !isActive(present.status)) return present;
  await store
    .change(withoutKey(caller), (tx) => runs.stop(tx, taskId, { mode, reason: 'user', note: 'restart' }))
    .catch((error) => {
      // The run ended on its own in the meantime.
      if (!(error instanceof ApiError && error.code === 'ILLEGAL_TRANSITION')) throw error;
    });
  const patienceMs = (settings.current().tasks.stopTimeoutSec + 5) * 1000;
  if (await runs.waitForEnd(present.id, patienceMs)) return present;
  throw conflict('STILL_STOPPING', `run ${present.id} has not ended yet`, { runId: present.id });
};

const restartTask =
  (
    deps: Deps,
  ): Pick<
    Handlers<typeof api.tasks>,
    'start' | 'stop' | 'pause' | 'resume' | 'restart' | 'actions' | 'changeLoad'
  >['restart'] =>
  async ({ params, body = {} }, caller) => {
    const { store, runs } = deps;
    const before = await newestRunOf(store.read, params.id);
    const { comment, labels, thresholds } = before ?? {};
    // The new run takes all start options of the old one.
    const same = before && { comment, labels, thresholds, agentLossPolicy: before.agentLossPolicy };
    const checked = await check(deps, caller, params.id, (same ?? {}) as StartBody, true);
    const previous = await endPresent(deps, caller, params.id, body.mode);
    return store.change(caller, async (tx) => {
      const { runId } = await runs.enqueue(tx, checked);
      return { data: { runId, previousRunId: previous?.id ?? null } };
    });
  };

const changeLoad =
  ({
    store,
    runs,
  }: Deps): Pick<
    Handlers<typeof api.tasks>,
    'start' | 'stop' | 'pause' | 'resume' | 'restart' | 'actions' | 'changeLoad'
  >['changeLoad'] =>
  async ({ body: { id, changes = [], commands = [], dumps } }, caller) => {
    const permission = 'tasks.dumps';
    if (dumps !== undefined && !allows(caller.permissions, permission)) {
      await store.change(withoutKey(caller), async (tx) => tx.deny({ permission, id }));
      throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
    }
    return store.change(caller, async (tx) => {
      await assertTask(tx, id);
      if (dumps !== undefined) await runs.changeCapture(tx, id, dumps);
      const changed = await runs.changeLoad(tx, id, changes);
      return { data: { ...changed, commands: await runs.command(tx, id, commands) } };
    });
  };

const startTask =
  (
    deps: Deps,
  ): Pick<
    Handlers<typeof api.tasks>,
    'start' | 'stop' | 'pause' | 'resume' | 'restart' | 'actions' | 'changeLoad'
  >['start'] =>
  async ({ params, body = {} }, caller) => {
    const { store, runs } = deps;
    const checked = await check(deps, caller, params.id, body);
    return store.change(caller, async (tx) => ({ data: await runs.enqueue(tx, checked) }));
  };

const stopTask =
  (
    deps: Deps,
  ): Pick<
    Handlers<typeof api.tasks>,
    'start' | 'stop' | 'pause' | 'resume' | 'restart' | 'actions' | 'changeLoad'
  >['stop'] =>
  ({ params, body = {} }, caller) =>
    deps.store.change(caller, async (tx) => ({
      data: await steer(deps, tx, params.id, body.mode === 'abort' ? 'abort' : 'stop', body.reason),
    }));

export const runControlHandlers = (
  deps: Deps,
): Pick<Handlers<typeof api.tasks>, 'start' | 'stop' | 'pause' | 'resume' | 'restart' | 'actions' | 'changeLoad'> => {
  const { store, runs } = deps;

  const act = async (caller: Caller, id: number, action: Action, reason: string | undefined) => {
    try {
      if (action === 'start') {
        const checked = await check(deps, caller, id, { ...(reason !== undefined && { reason }) });
        await store.change(withoutKey(caller), (tx) => runs.enqueue(tx, checked));
      } else await store.change(withoutKey(caller), (tx) => steer(deps, tx, id, action, reason));
      return { id, ok: true };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { id, ok: false, error: error.message, code: error.code };
    }
  };

  return {
    start: startTask(deps),
    stop: stopTask(deps),
    pause: ({ params, body = {} }, caller) =>
      store.change(caller, async (tx) => ({ data: await steer(deps, tx, params.id, 'pause', body.reason) })),
    resume: ({ params }, caller) =>
      store.change(caller, async (tx) => ({ data: await steer(deps, tx, params.id, 'resume', undefined) })),
    restart: restartTask(deps),
    actions: async ({ body: { array, action, reason } }, caller) => {
      const data: Awaited<ReturnType<typeof act>>[] = [];
      for (const id of array) data.push(await act(caller, id, action, reason));
      return store.change(caller, async (tx) => {
        tx.note({ action });
        return { data };
      });
    },
    changeLoad: changeLoad(deps),
  };
};
