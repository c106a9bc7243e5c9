import type { ConfigurationEntry, Plugin, Task, TaskDraft, Threshold } from '@rushhour/contract';

/** The state of the task editor: the definition of the task and its thresholds. */
export interface TaskForm {
  readonly comment: string;
  readonly projectID: number | null;
  readonly configuration: readonly ConfigurationEntry[];
  readonly accessPlane: NonNullable<TaskDraft['accessPlane']>;
  readonly controlPlane: NonNullable<TaskDraft['controlPlane']>;
  readonly dumps: NonNullable<TaskDraft['dumps']>;
  readonly thresholds: readonly Threshold[];
}

export const emptyForm: TaskForm = {
  comment: '',
  projectID: null,
  configuration: [],
  accessPlane: [],
  controlPlane: [],
  dumps: {},
  thresholds: [],
};

export const formOf = (task: Task, thresholds: readonly Threshold[]): TaskForm => {
  const { comment, projectID, configuration, accessPlane, controlPlane, dumps } = task;
  return { comment, projectID, configuration, accessPlane, controlPlane, dumps, thresholds };
};

/** The request body. Thresholds are stored by a separate operation. */
export const draftOf = ({ thresholds: _, configuration, ...form }: TaskForm): TaskDraft => ({
  ...form,
  configuration: [...configuration],
});

type Values = NonNullable<ConfigurationEntry['values']>;
type Example = Readonly<Record<string, unknown>>;

/** An entry that can run as it is: an example of the plugin between the given agents. */
export const entryOf = (plugin: Plugin, example: Example, agentIds: readonly number[]): ConfigurationEntry => {
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
