import { type FoundEntry, type PluginSpec, plugins, secretMask, secretSlotsOf } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';

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
  /** Index of its configuration entry. */
  readonly index: number;
  /** The stage of a suite; -1 outside of one. */
  readonly order: number;
}

/** A rule for an entry beyond its schema. */
export type Rule = (entry: CheckedEntry) => Issue[];

const checksOf = (mode: 'strict' | 'first') =>
  new Map<number, SchemaCheck>(plugins.map(({ id, schema }) => [id, createSchemaCheck(schema, mode)]));
const everyProblem = checksOf('strict');
const firstProblem = checksOf('first');

/** Larger values are checked up to their first problem: a hostile one could have millions. */
const largeChars = 128 * 1024;
const checkFor = (pluginId: number, values: object) =>
  (JSON.stringify(values).length > largeChars ? firstProblem : everyProblem).get(pluginId) as SchemaCheck;

/** Reports a member that belongs to another plugin. */
const explained =
  ({ name }: PluginSpec, path: string) =>
  (issue: Issue): Issue =>
    issue.code === 'UNKNOWN_MEMBER' && issue.path.lastIndexOf('/') === path.length
      ? { ...issue, message: `is not a member of the plugin ${name}` }
      : issue;

/** A mask keeps a stored secret; a remaining mask has no stored secret. */
const maskIssues = (values: FoundEntry['values'], path: string): Issue[] =>
  secretSlotsOf(values, path)
    .filter(({ holder, member }) => holder[member] === secretMask)
    .map((slot) => ({
      path: slot.path,
      code: 'SECRET_UNKNOWN',
      message: 'the mask keeps a stored value, but none is stored here',
    }));

/** The schema issues of an entry, or the entry with its defaults. */
export const checkEntry = (
  { plugin, pluginId, values, path, index }: FoundEntry,
  order: number,
): { issues: Issue[]; entry?: CheckedEntry } => {
  if (plugin === undefined) {
    const message = `there is no plugin ${pluginId}`;
    return { issues: [{ path: `${path}/plugin/id`, code: 'PLUGIN_UNKNOWN', message }] };
  }
  const filled = structuredClone(values) as FilledValues;
  const valuesPath = `${path}/values`;
  const masks = maskIssues(values, valuesPath);
  const isMask = ({ path: issuePath }: Issue) => masks.some((mask) => mask.path === issuePath);
  const problems = checkFor(pluginId, values)(filled, valuesPath).filter((issue) => !isMask(issue));
  const issues = [...problems.map(explained(plugin, valuesPath)), ...masks];
  return issues.length > 0 ? { issues } : { issues, entry: { plugin, values: filled, path: valuesPath, index, order } };
};
