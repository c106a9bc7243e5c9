import type { api } from '@rushhour/contract';
import { agentStatus } from '@rushhour/contract';
import type { AiCaller } from '../../../caller.ts';
import { one } from '../../../crud.ts';
import { ApiError } from '../../../errors.ts';
import type { Handlers } from '../../../handler.ts';
import { agents } from '../../../store/agents/agents.ts';
import { aiApprovals } from '../../../store/ai/ai-approvals.ts';
import { usageOfKey } from '../../../store/ai/ai-keys.ts';
import { stateOfTasks } from '../../../store/ai/ai-state.ts';
import type { Store } from '../../../store/store.ts';
import type { SettingsStore } from '../../../store/system/settings.ts';
import { digestOf } from '../../approvals/digest.ts';
import { sanitizeForModel } from '../sanitize.ts';
import { actionList, enumList, operationList } from './capabilities.ts';
import { findSchema, schemaNames } from './schemas.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
}

const dayMs = 86_400_000;

const left = (limit: number | null, used: number) => (limit === null ? null : Math.max(0, limit - used));

const warningsFor = (
  { key }: AiCaller,
  counted: { online: number; lost: number },
  usage: Awaited<ReturnType<typeof usageOfKey>>,
) => {
  const days = Math.floor((Date.parse(key.expiresAt) - Date.now()) / dayMs);
  return [
    ...(counted.online === 0 ? ['no agent is online'] : []),
    ...(counted.lost > 0 ? [`${counted.lost} agents are lost`] : []),
    ...(days < 7 ? [`this key expires in ${days} days`] : []),
    ...(usage.starts >= 0.8 * key.limits.startsPerDay ? ['more than 80 % of the starts of 24 hours are used'] : []),
  ];
};

const overview =
  ({
    store,
  }: Deps): Pick<Handlers<typeof api.aiGateway>, 'whoami' | 'capabilities' | 'schema' | 'overview'>['overview'] =>
  async (_, caller) => {
    const { agentIDs, projectIDs } = caller.key.constraints;
    const filters = { ids: agentIDs && JSON.stringify(agentIDs) };
    const count = async (status?: string) =>
      (await agents.page(store.read, { key: 'id', order: 'asc', limit: 1, offset: 0, filters: { ...filters, status } }))
        .total;
    const { online, busy, offline, suspect } = agentStatus;
    const counted = {
      total: await count(),
      online: await count(`[${online},${busy}]`),
      busy: await count(`[${busy}]`),
      lost: await count(`[${offline},${suspect}]`),
    };
    const { events, ...tasks } = await stateOfTasks(store.read, projectIDs, Date.now());
    const pending = { keyID: caller.key.id, state: 'pending' };
    const { total } = await aiApprovals.page(store.read, {
      key: 'id',
      order: 'asc',
      limit: 1,
      offset: 0,
      filters: pending,
    });
    return one({
      agents: counted,
      tasks,
      events: events.map(({ taskID, runID, ts, severity, type, source, message }) => ({
        ...{ at: ts, taskId: taskID, runId: runID, level: severity, code: type, source },
        untrustedMessage: sanitizeForModel(message, 500),
      })),
      pendingApprovals: total,
      warnings: warningsFor(caller, counted, await usageOfKey(store.read, caller.key.id)),
    });
  };

const whoami =
  ({
    store,
  }: Deps): Pick<Handlers<typeof api.aiGateway>, 'whoami' | 'capabilities' | 'schema' | 'overview'>['whoami'] =>
  async (_, caller) => {
    const { key } = caller;
    const { id, name, prefix, owner, scopes, policy, constraints, limits, expiresAt } = key;
    const usage = await usageOfKey(store.read, id);
    return one({
      ...{ id, name, prefix, owner, scopes: [...scopes], policy, constraints, limits, expiresAt },
      effectiveScopes: [...key.effectiveScopes],
      remaining: {
        ...caller.remaining(),
        starts: left(limits.startsPerDay, usage.starts),
        agentSeconds: left(limits.agentSecondsPerDay, usage.agentSeconds),
        bytes: left(limits.bytesPerDay, usage.generatedBytes),
      },
      serverTime: new Date().toISOString(),
      mcpUrl: '/mcp',
    });
  };

/** The key's identity, abilities and state. */
export const selfHandlers = (
  deps: Deps,
): Pick<Handlers<typeof api.aiGateway>, 'whoami' | 'capabilities' | 'schema' | 'overview'> => {
  const { settings } = deps;
  return {
    whoami: whoami(deps),

    capabilities: ({ query: { include } }, caller) => {
      const isWanted = (part: NonNullable<typeof include>[number]) => include === undefined || include.includes(part);
      const data = {
        ...(isWanted('operations') && { operations: operationList(caller.key) }),
        ...(isWanted('actions') && { actions: actionList(caller.key, settings.current().ai) }),
        ...(isWanted('enums') && { enums: enumList() }),
        ...(isWanted('schemas') && { schemas: schemaNames() }),
      };
      caller.setHeader('etag', `"${digestOf(data).slice(7, 39)}"`);
      return one(data);
    },

    schema: ({ params: { name } }) => {
      const found = findSchema(name);
      if (found === undefined)
        throw new ApiError('notFound', 'NOT_FOUND', `there is no schema ${name}`, {
          hint: 'capabilities?include=schemas names all of them',
        });
      return one(found);
    },

    overview: overview(deps),
  };
};
