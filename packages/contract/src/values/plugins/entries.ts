import type { ConfigurationEntry } from '../../collections/task-fields.ts';
import type { EntryValues } from '../entry-values.ts';
import { findPlugin } from './index.ts';
import type { PluginSpec } from './plugin.ts';

/** An entry of a task, or one inside a suite. */
export interface FoundEntry {
  readonly pluginId: number;
  /** Undefined when there is no such plugin. */
  readonly plugin: PluginSpec | undefined;
  readonly values: EntryValues;
  /** JSON pointer of the entry in the task. */
  readonly path: string;
  /** Index of the configuration entry it is or belongs to. */
  readonly index: number;
  readonly isChild: boolean;
}

/** All entries of a configuration, each suite followed by what is inside. */
export const entriesOf = (configuration: readonly ConfigurationEntry[]): FoundEntry[] =>
  configuration.flatMap((entry, index) => {
    const path = `/configuration/${index}`;
    const children = (entry.subplugins?.subplugins ?? []).map((child, i) =>
      foundEntry(child, `${path}/subplugins/subplugins/${i}`, index, true),
    );
    return [foundEntry(entry, path, index, false), ...children];
  });

const foundEntry = (
  { plugin, values = {} }: Pick<ConfigurationEntry, 'plugin' | 'values'>,
  path: string,
  index: number,
  isChild: boolean,
): FoundEntry => ({ pluginId: plugin.id, plugin: findPlugin(plugin.id), values, path, index, isChild });
