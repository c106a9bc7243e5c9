import { type Agent, agentStatus, type api } from '@rushhour/contract';
import type { FileService } from '../assets/files/file-service.ts';
import type { Bus } from '../bus/local.ts';
import { assertAllFound, assertFresh, cursorOf, one, pageRequestOf } from '../crud.ts';
import { conflict, orNotFound } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import { forgetFilesOf } from '../store/agents/agent-files.ts';
import { activeTasksOn } from '../store/agents/agent-work.ts';
import { type AgentRow, agentTokens, agents as table } from '../store/agents/agents.ts';
import type { Executor } from '../store/engine/database.ts';
import type { Store } from '../store/store.ts';
import type { SettingsStore } from '../store/system/settings.ts';
import { createActions } from './actions.ts';
import { blockingHandlers } from './blocking.ts';
import { capabilitiesOf, planeProtocols, pluginCatalogue } from './gateway/admission/capabilities.ts';
import { createEnrolmentToken } from './gateway/admission/enrolment.ts';
import { reservationOf } from './gateway/admission/reservations.ts';
import type { Agents } from './gateway/agents.ts';
import type { Installer } from './installer.ts';
import { reservationHandlers } from './reservations.ts';
import { telemetryHandlers } from './telemetry.ts';

type Gateway = Agents['gateway'];

/** What heartbeats told since it was last written. */
const freshOf = (id: number, gateway: Gateway) => {
  const presence = gateway.find(id);
  if (presence === undefined) return {};
  const { clockOffsetMs, roundTripMs, heardAt } = presence;
  return {
    clockOffsetMs,
    roundTripMs,
    lastSeenAt: new Date(Date.now() - (performance.now() - heardAt)).toISOString(),
  };
};

const shownAgent = (row: AgentRow, activeTaskIDs: number[], now: string, gateway: Gateway): Agent => {
  const { interfaces: _, ...agent } = row;
  const reservation = reservationOf(row, now);
  return {
    ...agent,
    ...freshOf(row.id, gateway),
    activeTaskIDs,
    reservation: reservation ? { ...reservation, taskID: activeTaskIDs[0] ?? null } : null,
  };
};

/** Agents as the interface shows them. Their tasks are read for all of them together. */
const shownAgents = async (executor: Executor, gateway: Gateway, rows: readonly AgentRow[]): Promise<Agent[]> => {
  const now = new Date().toISOString();
  const ids = rows.map(({ id }) => id);
  const tasks = await activeTasksOn(executor, ids);
  return rows.map((row) => shownAgent(row, [...new Set(tasks.get(row.id))], now, gateway));
};

interface TokenDeps {
  store: Store;
  controllerKey: string;
  installer: Installer;
}

type TokenHandlers = Pick<Handlers<typeof api.agents>, 'tokens' | 'createToken' | 'removeTokens'>;

const tokenHandlers = ({ store, controllerKey, installer }: TokenDeps): TokenHandlers => ({
  tokens: async ({ query }) => {
    const request = pageRequestOf(query, 'id');
    const { rows, total } = await agentTokens.page(store.read, { ...request, filters: {} });
    return { cursor: cursorOf(request.limit, request.offset, total), data: rows };
  },
  createToken: ({ body }, caller) =>
    store.change(caller, async (tx) => {
      const { id, token } = await createEnrolmentToken(tx, body, controllerKey);
      const { url: controllerUrl, warning } = installer.addressFor(caller.header('host'));
      const command = installer.commandFor(controllerUrl, token);
      // The archive is made while the command is carried to the other machine.
      if (warning === '') tx.afterCommit(() => void installer.archives.prepare());
      return { data: { id, token, controllerUrl, fingerprint: installer.fingerprint, command, warning } };
    }),
  removeTokens: ({ body: { array } }, caller) =>
    store.change(caller, async (tx) => {
      assertAllFound('token', array, await agentTokens.remove(tx, array));
      return { data: array };
    }),
});

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  agents: Agents;
  files: FileService;
  installer: Installer;
}

type Query = Parameters<Handlers<typeof api.agents>['list']>[0]['query'];

const mustFind = async (executor: Executor, id: number) => {
  const agent = await orNotFound(table.find(executor, id), 'agent', id);
  return agent;
};

const enginesOf = (plugin: number) => pluginCatalogue.find(({ id }) => id === plugin)?.engines ?? [];

/** The conditions of the list as the table takes them. */
const filtersOf = ({ status, tag, plugin, free }: Pick<Query, 'status' | 'tag' | 'plugin' | 'free'>) => {
  const now = new Date().toISOString();
  return {
    status: status && JSON.stringify(status.split(',').map(Number)),
    tag: tag && JSON.stringify(tag),
    engines: plugin === undefined ? undefined : JSON.stringify(enginesOf(plugin)),
    freeAt: free === true ? now : undefined,
    takenAt: free === false ? now : undefined,
  };
};

const whole = (rows: number, totalRows = rows) => ({ count: rows, currentPage: 1, totalPages: 1, totalRows });

const removeAgents =
  ({ store, bus }: Deps): Handlers<typeof api.agents>['removeMany'] =>
  ({ body: { array } }, caller) =>
    store.change(caller, async (tx) => {
      const tasks = [...(await activeTasksOn(tx, array)).values()].flat();
      if (tasks.length > 0) {
        const references = [...new Set(tasks)].map((id) => ({ kind: 'task', id, name: '' }));
        throw conflict('BUSY', 'tasks run on the agent: stop them first', { references });
      }
      assertAllFound('agent', array, await table.remove(tx, array));
      await forgetFilesOf(tx, array);
      tx.afterCommit(() => {
        for (const id of array) bus.publish('agent.access', { id, access: 'removed', status: agentStatus.offline });
      });
      return { data: array };
    });

const listInterfaces =
  ({ store, agents }: Deps): Handlers<typeof api.agents>['interfaces'] =>
  async ({ params: { id }, query: { rescan = false } }) => {
    await mustFind(store.read, id);
    if (rescan) {
      await agents.rescan(id).catch((error) => {
        throw conflict('AGENT_OFFLINE', `the agent did not look again: ${error.message}`, { id });
      });
    }
    const { interfaces } = await mustFind(store.read, id);
    return { cursor: whole(interfaces.length), data: interfaces };
  };

export const agentHandlers = (deps: Deps): Handlers<typeof api.agents> => {
  const { store, agents, settings, bus, files, installer } = deps;
  return {
    ...tokenHandlers({ store, installer, controllerKey: agents.controllerKey }),
    ...reservationHandlers({ store, settings, bus }),
    ...telemetryHandlers({ store, agents, mustFind: (id) => mustFind(store.read, id) }),
    ...blockingHandlers({ store, bus }),
    actions: createActions({ store, bus, agents, files }),
    list: async ({ query }) => {
      const { filters, ...request } = pageRequestOf(query, 'id');
      const { rows, total } = await table.page(store.read, { ...request, filters: filtersOf(filters) });
      return {
        cursor: cursorOf(request.limit, request.offset, total),
        data: await shownAgents(store.read, agents.gateway, rows),
      };
    },
    all: async () => {
      const limit = settings.current().limits.allListMax;
      const { rows, total } = await table.page(store.read, { key: 'id', order: 'asc', limit, offset: 0 });
      return { cursor: whole(rows.length, total), data: rows };
    },
    get: async ({ params }) => {
      const agent = await mustFind(store.read, params.id);
      const [shown] = await shownAgents(store.read, agents.gateway, [agent]);
      return one({ ...(shown as NonNullable<typeof shown>), interfaces: agent.interfaces });
    },
    update: ({ body: { id, updatedAt, ...values } }, caller) =>
      store.change(caller, async (tx) => {
        assertFresh('agent', await mustFind(tx, id), updatedAt);
        await table.update(tx, id, values);
      }),
    removeMany: removeAgents(deps),
    interfaces: listInterfaces(deps),
    capabilities: async ({ params }) => ({
      data: capabilitiesOf(await mustFind(store.read, params.id), pluginCatalogue, planeProtocols),
    }),
  };
};
