import type { ConfigurationEntry } from '../../collections/tasks/task.ts';
import type { EntryValues } from '../entry-values.ts';
import { findPlugin } from './index.ts';
import type { PluginSpec } from './plugin.ts';
import { accessPlane, controlPlane } from './suite-and-planes.ts';

interface HazardousParts {
  readonly configuration: readonly ConfigurationEntry[];
  readonly accessPlane?: readonly unknown[] | undefined;
  readonly controlPlane?: readonly unknown[] | undefined;
}

/** Hazard of a task: the highest of its entries, entries of suites, and planes. */
export const hazardOf = (task: HazardousParts): number =>
  Math.max(
    0,
    ...entriesOf(task.configuration).map(({ plugin }) => plugin?.hazard ?? 0),
    ...(task.accessPlane?.length ? [accessPlane.hazard] : []),
    ...(task.controlPlane?.length ? [controlPlane.hazard] : []),
  );

/** An entry of a task, or one inside a suite. */
export interface FoundEntry {
  readonly pluginId: number;
  /** Undefined if no such plugin exists. */
  readonly plugin: PluginSpec | undefined;
  readonly values: EntryValues;
  /** JSON pointer of the entry in the task. */
  readonly path: string;
  /** Index of the configuration entry it is or belongs to. */
  readonly index: number;
  readonly isChild: boolean;
}

/** All entries of a configuration, each suite followed by its children. */
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
