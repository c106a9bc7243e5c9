import { agents, findAgentByUuid } from '../../../store/agents/agents.ts';
import type { Travelling } from './travelling.ts';

export const travellingAgents: Travelling<'agents'> = {
  read: async (executor, id) => {
    const found = await agents.find(executor, id);
    if (found === undefined) return undefined;
    const { uuid, name, hostname, tags, os, arch, cpuCores } = found;
    const interfaces = found.interfaces.map(({ id, name }) => ({ id, name }));
    return { agent: { uuid, name, hostname, tags, os, arch, cpuCores, interfaces } };
  },
  nameOf: ({ agent }) => agent.name,
  references: () => [],
  essenceOf: ({ agent }) => ({ uuid: agent.uuid }),
  lookAlikes: async (executor, { agent }) => {
    const found = await findAgentByUuid(executor, agent.uuid);
    return found ? [found.id] : [];
  },
};
