import { randomUUID } from 'node:crypto';
import type { api } from '@rushhour/contract';
import type { Caller } from '../caller.ts';
import { assertAllFound } from '../crud.ts';
import { conflict, forbidden } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { allows } from '../people/permissions.ts';
import { activeTasksOn } from '../store/agents/agent-work.ts';
import { type AgentRow, agents as table } from '../store/agents/agents.ts';
import type { Executor } from '../store/engine/database.ts';
import { findPackage } from './agent-package.ts';
import { AgentRefused } from './gateway/gateway.ts';
import { collectLogs } from './log-collection.ts';
import type { ActionDeps } from './operation-report.ts';
import { upgradeAgents } from './upgrade.ts';

interface Result {
  id: number;
  ok: boolean;
  error?: string;
  code?: string;
  rttMs?: number;
}

const pingMs = 5000;
const restartMs = 10_000;

const assertIdle = async (executor: Executor, ids: readonly number[]) => {
  const busy = [...(await activeTasksOn(executor, ids)).keys()];
  if (busy.length === 0) return;
  throw conflict('BUSY', `agent ${busy[0]} is busy: wait for its tasks, or use force`, { agents: busy });
};

/** Upgrading replaces the program that agents run; the permission to use agents is not enough. */
const assertMayUpgrade = ({ permissions }: Caller) => {
  const permission = 'agents.upgrade';
  if (allows(permissions, permission)) return;
  throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
};

/** What an agent answered, as a result. */
const attempt = async (id: number, work: () => Promise<object>): Promise<Result> => {
  try {
    return { id, ok: true, ...(await work()) };
  } catch (error) {
    const code = error instanceof AgentRefused ? 'REFUSED' : 'UNREACHABLE';
    return { id, ok: false, code, error: (error as Error).message };
  }
};

type QuickAction = 'ping' | 'rescan' | 'restart';

/** Actions whose results are in the reply; the others go on after it. */
const quickActions = ({ agents }: ActionDeps): Record<QuickAction, (id: number) => Promise<object>> => ({
  ping: async (id) => {
    const start = performance.now();
    await agents.everywhere.ask(id, { kind: 'ping' }, pingMs);
    return { rttMs: performance.now() - start };
  },
  rescan: async (id) => {
    await agents.rescan(id);
    return {};
  },
  restart: async (id) => {
    await agents.everywhere.ask(id, { kind: 'restart' }, restartMs);
    return {};
  },
});

export const createActions = (deps: ActionDeps): Handlers<typeof api.agents>['actions'] => {
  const { store, agents } = deps;
  const { everywhere: gateway } = agents;
  const quick = quickActions(deps);
  const reachable = ({ id }: AgentRow): Result =>
    gateway.isOnline(id)
      ? { id, ok: true }
      : { id, ok: false, code: 'UNREACHABLE', error: 'the agent is not connected' };

  return async ({ body: { array, action, params = {}, force = false } }, caller) => {
    if (action === 'upgrade') assertMayUpgrade(caller);
    const found = await table.findMany(store.read, array);
    const ids = found.map(({ id }) => id);
    assertAllFound('agent', array, ids);
    if ((action === 'restart' || action === 'upgrade') && !force) await assertIdle(store.read, array);
    const operationId = randomUUID();
    const operation = { operationId, userID: caller.userId };
    const answer = (results: Result[], begin?: () => void) =>
      store.change(caller, async (tx) => {
        for (const id of ids) tx.touch('agents', id);
        tx.note({ action, operationId });
        if (begin) tx.afterCommit(begin);
        return { data: { operationId, results } };
      });

    if (action !== 'upgrade' && action !== 'collectLogs') {
      return answer(await Promise.all(array.map((id) => attempt(id, () => quick[action](id)))));
    }
    const results = found.map(reachable);
    const online = found.filter(({ id }) => gateway.isOnline(id));
    if (action === 'collectLogs') return answer(results, () => void collectLogs(deps, operation, online));
    const bundle = await findPackage({ store, blobs: deps.files.blobs, packageKeys: agents.packageKeys }, params);
    return answer(results, () => void upgradeAgents(deps, operation, online, bundle));
  };
};
