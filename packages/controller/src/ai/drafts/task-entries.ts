import { plugins } from '@rushhour/contract';
import { mergePatch } from './json-patch.ts';

type Holder = Record<string, unknown>;
const isHolder = (value: unknown): value is Holder =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const idOf = (plugin: unknown): unknown => {
  const name = isHolder(plugin) && plugin['id'] === undefined ? plugin['name'] : plugin;
  const found = typeof name === 'string' ? plugins.find((known) => known.name === name) : undefined;
  return found === undefined ? plugin : { id: found.id };
};

const withId = (entry: unknown): unknown => {
  if (!isHolder(entry)) return entry;
  const inner = isHolder(entry['subplugins']) ? entry['subplugins']['subplugins'] : undefined;
  return {
    ...entry,
    ...('plugin' in entry && { plugin: idOf(entry['plugin']) }),
    ...(Array.isArray(inner) && { subplugins: { ...(entry['subplugins'] as Holder), subplugins: inner.map(withId) } }),
  };
};

/** The same task with ids in place of the names of plugins. Names that are none stay, and are reported by the check. */
export const withPluginIds = (task: Holder): Holder => {
  const { configuration } = task;
  return Array.isArray(configuration) ? { ...task, configuration: configuration.map(withId) } : task;
};

const isEntry = (value: unknown): value is Holder => isHolder(value) && 'plugin' in value;

/** An entry of another plugin has other values. */
const isSamePlugin = (entry: Holder, patch: Holder) =>
  patch['plugin'] === undefined || JSON.stringify(patch['plugin']) === JSON.stringify(entry['plugin']);

const mergeEntries = (target: readonly unknown[], patch: readonly unknown[]): unknown[] => {
  if (patch.length === 0 || !target.every(isEntry)) return [...patch];
  const merged = patch.map((item, i) => {
    const entry = target[i];
    return isEntry(entry) && isHolder(item) && isSamePlugin(entry, item) ? mergePatch(entry, item, mergeEntries) : item;
  });
  return [...merged, ...target.slice(patch.length)];
};

/**
 * A merge patch of a task: entries are merged by their position, so that a patch of one member does not lose the others.
 * Entries beyond the patch stay; JSON Patch removes entries. All other lists are replaced.
 */
export const mergeTask = (task: unknown, patch: Holder): unknown =>
  mergePatch(task, withPluginIds(patch), mergeEntries);
