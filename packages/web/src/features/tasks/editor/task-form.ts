import type { ConfigurationEntry, Device, Plugin, Task, TaskDraft, Threshold } from '@rushhour/contract';
import { recordsOf } from '../../../components/schema-form/record-field.tsx';
import { referenceOf, type Schema, withoutNull } from '../../../components/schema-form/schema.ts';

/** The state of the task editor: the definition of the task and its thresholds. */
export interface TaskForm {
  readonly comment: string;
  readonly projectID: number | null;
  readonly device: Device | null;
  readonly configuration: readonly ConfigurationEntry[];
  readonly accessPlane: NonNullable<TaskDraft['accessPlane']>;
  readonly controlPlane: NonNullable<TaskDraft['controlPlane']>;
  readonly dumps: NonNullable<TaskDraft['dumps']>;
  readonly thresholds: readonly Threshold[];
}

export const emptyForm: TaskForm = {
  comment: '',
  projectID: null,
  device: null,
  configuration: [],
  accessPlane: [],
  controlPlane: [],
  dumps: {},
  thresholds: [],
};

export const formOf = (task: Task, thresholds: readonly Threshold[]): TaskForm => {
  const { comment, projectID, device, configuration, accessPlane, controlPlane, dumps } = task;
  return { comment, projectID, device, configuration, accessPlane, controlPlane, dumps, thresholds };
};

/** The request body. Thresholds are stored by a separate operation. */
export const draftOf = ({ thresholds: _, configuration, ...form }: TaskForm): TaskDraft => ({
  ...form,
  configuration: [...configuration],
});

type Values = NonNullable<ConfigurationEntry['values']>;
type Example = Readonly<Record<string, unknown>>;

/** An example without the records it names: their ids mean nothing on this controller. */
export const withoutReferences = (schema: Schema, value: unknown): unknown => {
  if (Array.isArray(value)) {
    const items = schema.items ?? {};
    return referenceOf(items) !== undefined ? undefined : value.map((item) => withoutReferences(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const inner = withoutNull(schema.properties?.[name] ?? {});
    const next = isReference(name, inner) ? undefined : withoutReferences(inner, member);
    return next === undefined ? [] : [[name, next]];
  });
  return Object.fromEntries(kept);
};

const isReference = (name: string, schema: Schema) => referenceOf(schema) !== undefined || name in recordsOf;

interface EntryOptions {
  readonly schema: Schema;
  readonly example: Example;
  readonly agentIds: readonly number[];
}

/** An entry that can run as far as possible: an example of the plugin between the given agents. */
export const entryOf = (plugin: Plugin, { schema, example: given, agentIds }: EntryOptions): ConfigurationEntry => {
  const example = withoutReferences(schema, given) as Example;
  const [client, server = client] = agentIds;
  const at = (id: number | undefined) => [id === undefined ? {} : { agent: { id } }];
  const ends = {
    ...('sources' in example && { sources: at(client) }),
    ...('targets' in example && { targets: at(server) }),
  };
  return {
    plugin: { id: plugin.id },
    values: { ...example, ...ends } as Values,
    ...(plugin.name === 'suite' && { subplugins: { subplugins: [] } }),
  };
};

/** Changes the plugin of an entry and keeps the values that the new plugin accepts. */
export const withPlugin = (entry: ConfigurationEntry, plugin: Plugin): ConfigurationEntry => {
  const values = Object.fromEntries(
    Object.entries(entry.values ?? {}).filter(([name]) => plugin.members.includes(name)),
  ) as Values;
  const { subplugins, ...rest } = entry;
  return {
    ...rest,
    plugin: { id: plugin.id },
    values,
    ...(plugin.name === 'suite' && { subplugins: subplugins ?? {} }),
  };
};
