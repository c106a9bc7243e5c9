import type { api } from '@rushhour/contract';
import { agentStatus } from '@rushhour/contract';
import { capabilitiesOf, planeProtocols, pluginCatalogue } from '../../../agents/gateway/admission/capabilities.ts';
import { cursorOf, one, pageRequestOf } from '../../../crud.ts';
import { notFound } from '../../../errors.ts';
import type { Handlers } from '../../../handler.ts';
import { latestHealth } from '../../../store/agents/agent-health.ts';
import { activeTasksOn } from '../../../store/agents/agent-work.ts';
import { type AgentRow, agents as table } from '../../../store/agents/agents.ts';
import type { Store } from '../../../store/store.ts';
import { seesAgent } from '../../keys/visibility.ts';
import { nameIn } from './names.ts';

const summaryOf = (agent: AgentRow, busyWith: readonly number[]) => ({
  id: agent.id,
  name: agent.name,
  status: agent.status,
  statusName: nameIn(agentStatus, agent.status),
  version: agent.version,
  tags: agent.tags,
  interfaces: agent.interfaces.map(({ id, name, link, usable }) => ({ id, name, link, usable })),
  busyWith,
  lastSeenAt: agent.lastSeenAt,
  untrusted: true,
});

const detailOf = (agent: AgentRow, isFull: boolean) => {
  const { hostname, os, kernel, arch, cpuCores, memoryMb, addresses, maxConcurrentTasks, maxBps } = agent;
  const { plugins, planes, system } = capabilitiesOf(agent, pluginCatalogue, planeProtocols);
  const able = <T extends { name: string; available: boolean }>(list: readonly T[]) =>
    isFull ? list : list.filter(({ available }) => available).map(({ name }) => name);
  return {
    ...{ hostname, os, kernel, arch, cpuCores, memoryMb, addresses, maxConcurrentTasks, maxBps },
    reservedUntil: agent.reservedUntil,
    untrustedComment: agent.comment,
    ...(isFull && { interfaces: agent.interfaces }),
    capabilities: { plugins: able(plugins), planes: able(planes), system },
  };
};

/** Agents that the key may use. */
export const agentReadHandlers = ({
  store: { read },
}: {
  store: Store;
}): Pick<Handlers<typeof api.aiGateway>, 'agents' | 'agent'> => ({
  agents: async ({ query: { q, status, free, ...query } }, { key }) => {
    const { agentIDs } = key.constraints;
    const request = pageRequestOf({ ...query, ...(q !== undefined && { search: q }) }, 'id');
    const now = new Date().toISOString();
    const filters = {
      ids: agentIDs && JSON.stringify(agentIDs),
      status: status === undefined ? undefined : `[${status}]`,
      freeAt: free === true ? now : undefined,
      takenAt: free === false ? now : undefined,
    };
    const { rows, total } = await table.page(read, { ...request, filters });
    const work = await activeTasksOn(
      read,
      rows.map(({ id }) => id),
    );
    const data = rows.map((row) => summaryOf(row, work.get(row.id) ?? []));
    return { cursor: cursorOf(request.limit, request.offset, total), data };
  },
  agent: async ({ params: { id }, query: { view } }, { key }) => {
    const agent = seesAgent(key, id) ? await table.find(read, id) : undefined;
    if (agent === undefined) throw notFound('agent', id);
    const work = await activeTasksOn(read, [id]);
    const health = await latestHealth(read, id);
    return one({
      ...summaryOf(agent, work.get(id) ?? []),
      ...detailOf(agent, view === 'full'),
      health: health ?? null,
    });
  },
});
