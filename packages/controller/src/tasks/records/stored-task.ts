import {
  type AccessPlaneEntry,
  type ConfigurationEntry,
  type ControlPlaneEntry,
  entriesOf,
  findPlugin,
  type Task,
  taskReferences,
} from '@rushhour/contract';
import type { TSchema } from 'typebox';
import type { Kind } from '../../store/engine/links.ts';
import type { StoredTask } from '../../store/tasks/tasks.ts';

type Members = Record<string, unknown>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The stored part of a value: only members named by the schema. */
const kept = (schema: TSchema, value: unknown): unknown => {
  const { properties, items, additionalProperties } = schema as {
    properties?: Record<string, TSchema>;
    items?: TSchema;
    additionalProperties?: unknown;
  };
  if (Array.isArray(value)) return items === undefined ? value : value.map((part) => kept(items, part));
  if (!isMembers(value) || properties === undefined) return value;
  const members = Object.entries(value).filter(
    ([name]) => additionalProperties !== true || Object.hasOwn(properties, name),
  );
  return Object.fromEntries(members.map(([name, part]) => [name, kept(properties[name] ?? ({} as TSchema), part)]));
};

type Entry = Pick<ConfigurationEntry, 'plugin' | 'values'>;

const keptEntry = <E extends Entry>(entry: E): E => {
  const { plugin, values } = entry;
  const schema = findPlugin(plugin.id)?.schema;
  return {
    ...entry,
    plugin: { id: plugin.id },
    ...(values !== undefined && schema !== undefined && { values: kept(schema, values) }),
  };
};

export const storedConfiguration = (configuration: readonly ConfigurationEntry[]): ConfigurationEntry[] =>
  configuration.map((entry) => {
    const children = entry.subplugins?.subplugins?.map(keptEntry);
    return {
      ...keptEntry(entry),
      ...(children && { subplugins: { ...entry.subplugins, subplugins: children } }),
    };
  });

/** Of an agent, only its id. */
export const storedPlane = <Entry extends AccessPlaneEntry | ControlPlaneEntry>(entries: readonly Entry[]): Entry[] =>
  entries.map((entry) => ({ ...entry, agent: { id: entry.agent.id } }));

/** Kinds that cannot be deleted while a task uses them. */
const guardedKinds: readonly string[] = [
  'network',
  'tunnel',
  'certificate',
  'file',
  'dictionary',
  'application',
  'signature',
];

type Linked = Pick<StoredTask, 'configuration' | 'accessPlane' | 'controlPlane'>;

/** The records used by a task; agents and plugins are indexed for lists. */
export const linksOf = (task: Linked): { kind: Kind; id: number }[] => {
  const plugins = entriesOf(task.configuration).map(({ pluginId }) => ({ kind: 'plugin' as const, id: pluginId }));
  const records = taskReferences(task)
    .filter(({ kind }) => kind === 'agent' || guardedKinds.includes(kind))
    .map(({ kind, id }) => ({ kind: kind as Kind, id }));
  return [...plugins, ...records];
};

/** The capture options with all members. */
export const storedDumps = (dumps: Task['dumps'] | null | undefined) => ({
  enabled: false,
  captureArp: false,
  savelen: 0,
  ...dumps,
});

/** A task as any reader may see it: its configuration is already masked. */
export const readable = (task: StoredTask): Task => {
  const { projectID, projectName, projectArchivedAt, lastRunID } = task;
  const { configurationSecrets: _, thresholds: __, ...members } = task;
  return {
    ...members,
    project: projectID === null ? null : { ID: projectID, name: projectName ?? '', archivedAt: projectArchivedAt },
    dumps: storedDumps(task.dumps),
    lastRunId: lastRunID,
  };
};
