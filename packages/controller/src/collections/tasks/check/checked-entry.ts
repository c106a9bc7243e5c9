import { type FoundEntry, type PluginSpec, plugins } from '@rushhour/contract';
import type { Issue } from '../../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../../schema-check.ts';

/** Values of any plugin, defaults filled in. */
export interface FilledValues {
  readonly isServer?: boolean;
  readonly sources?: readonly Endpoint[];
  readonly targets?: readonly Endpoint[];
  readonly [member: string]: unknown;
}

export interface Endpoint {
  readonly agent?: { readonly id: number };
  readonly network?: { readonly id: number };
  readonly ip?: string;
  readonly ports?: string;
}

/** An entry whose values fit the schema of its plugin. */
export interface CheckedEntry {
  readonly plugin: PluginSpec;
  readonly values: FilledValues;
  /** JSON pointer of its values. */
  readonly path: string;
  /** Index of the configuration entry it is or belongs to. */
  readonly index: number;
  /** The stage of a suite; -1 outside of one. */
  readonly order: number;
}

/** Something that must hold for an entry beyond its schema. */
export type Rule = (entry: CheckedEntry) => Issue[];

const checks = new Map<number, SchemaCheck>(plugins.map(({ id, schema }) => [id, createSchemaCheck(schema)]));

/** Tells of a member that another plugin would take. */
const explained =
  ({ name }: PluginSpec, path: string) =>
  (issue: Issue): Issue =>
    issue.code === 'UNKNOWN_MEMBER' && issue.path.lastIndexOf('/') === path.length
      ? { ...issue, message: `is not taken by the plugin ${name}` }
      : issue;

/** What the schema of the plugin has against an entry; the entry with its defaults where that is nothing. */
export const checkEntry = (
  { plugin, pluginId, values, path, index }: FoundEntry,
  order: number,
): { issues: Issue[]; entry?: CheckedEntry } => {
  if (plugin === undefined) {
    const message = `there is no plugin ${pluginId}`;
    return { issues: [{ path: `${path}/plugin/id`, code: 'PLUGIN_UNKNOWN', message }] };
  }
  const filled = structuredClone(values) as FilledValues;
  const place = `${path}/values`;
  const issues = (checks.get(pluginId)?.(filled, place) ?? []).map(explained(plugin, place));
  return issues.length > 0 ? { issues } : { issues, entry: { plugin, values: filled, path: place, index, order } };
};
