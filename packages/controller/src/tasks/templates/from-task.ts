import type { TaskTemplate, TemplateParameter, TemplateSlot, Threshold } from '@rushhour/contract';
import { secretsIn } from './secrets-in.ts';

type Json = Record<string, unknown>;
type Made = Pick<TaskTemplate, 'task' | 'slots' | 'parameters'>;

/** A task without its results. */
export interface SourceTask {
  readonly comment: string;
  readonly accessPlane: readonly unknown[];
  readonly controlPlane: readonly unknown[];
  readonly configuration: readonly unknown[];
  readonly dumps: unknown;
  readonly thresholds?: readonly Threshold[];
}

/** A template from a task: its agents become slots, its secrets become required parameters. */
export const templateOfTask = (source: SourceTask, pluginNameOf: (id: number) => string | undefined): Made => {
  const { comment, accessPlane, controlPlane, configuration, dumps, thresholds = [] } = source;
  const judged = thresholds.length > 0 && { thresholds };
  const task = structuredClone({ comment, accessPlane, controlPlane, configuration, dumps, ...judged }) as Json;
  const parameters = takeSecrets(task);
  const slots = createSlots();
  for (const entry of lists(task['configuration'])) takeEntry(entry, slots, pluginNameOf);
  for (const plane of ['accessPlane', 'controlPlane']) {
    for (const entry of lists(task[plane])) slots.take(entry, entry['isServer'] === true ? 'server' : 'client');
  }
  for (const { scope } of lists(task['thresholds'])) if (isObject(scope)) slots.name(scope);
  return { task, slots: slots.made(), parameters };
};

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const lists = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

const takeEntry = (entry: Json, slots: Slots, pluginNameOf: (id: number) => string | undefined) => {
  const { values, plugin, subplugins } = entry;
  const name = isObject(plugin) ? pluginNameOf(Number(plugin['id'])) : undefined;
  if (isObject(values)) {
    for (const source of lists(values['sources'])) slots.take(source, 'client', name);
    for (const target of lists(values['targets'])) slots.take(target, 'server', name);
  }
  if (isObject(subplugins)) for (const inner of lists(subplugins['subplugins'])) takeEntry(inner, slots, pluginNameOf);
};

type Role = 'client' | 'server';
type Slots = ReturnType<typeof createSlots>;

/** Names each agent by its first role: client1, server1, client2 … */
const createSlots = () => {
  const byAgent = new Map<number, { name: string; role: TemplateSlot['role']; requires: Set<string> }>();
  const counts = { client: 0, server: 0 };
  const create = (role: Role) => {
    counts[role] += 1;
    return { name: `${role}${counts[role]}`, role: role as TemplateSlot['role'], requires: new Set<string>() };
  };
  return {
    /** Replaces `holder.agent.id` by a slot and removes the agent's interfaces. */
    take: (holder: Json, role: Role, plugin?: string) => {
      const agent = holder['agent'];
      if (!isObject(agent) || typeof agent['id'] !== 'number') return;
      const slot = byAgent.get(agent['id']) ?? create(role);
      byAgent.set(agent['id'], slot);
      if (slot.role !== role) slot.role = 'any';
      if (plugin !== undefined) slot.requires.add(plugin);
      holder['agent'] = { id: { $slot: slot.name } };
      delete holder['interfaceId'];
      delete holder['interfaces'];
    },
    /** Replaces `scope.agentID` by the slot that the agent has become. */
    name: (scope: Json) => {
      const slot = byAgent.get(Number(scope['agentID']));
      if (slot !== undefined) scope['agentID'] = { $slot: slot.name };
    },
    made: (): TemplateSlot[] =>
      [...byAgent.values()].map(({ name, role, requires }) => ({ name, role, requires: [...requires].sort() })),
  };
};

/** Secrets cannot be read back, so the user of the template supplies them. */
const takeSecrets = (task: Json): TemplateParameter[] =>
  secretsIn(task).map(({ name, holder, member }, index) => {
    const parameter = `${name.replace(/^[^A-Za-z]+|[^A-Za-z0-9_]+/g, '').slice(0, 60) || 'secret'}${index + 1}`;
    holder[member] = { $param: parameter };
    return { name: parameter, type: 'string', description: `The ${name} of the task, which is not shown` };
  });
