import {
  type ConfigurationEntry,
  type DurationValues,
  entriesOf,
  type FoundEntry,
  type HttpValues,
  plugins,
  type TypedPlugin,
} from '@rushhour/contract';
import type { Static, TObject, TSchema } from 'typebox';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';
import { PlanIssues } from './plan-issues.ts';

/** Members that most plugins share. */
type CommonMembers = Pick<
  HttpValues,
  | 'sources'
  | 'targets'
  | 'isServer'
  | 'ipLayer'
  | 'clientPortRange'
  | 'rotationMode'
  | 'cpuCores'
  | 'l2PolicyVersion'
  | 'tcpConfiguration'
  | 'tunnelID'
  | 'tunnelIDs'
  | 'tunnelClientIp'
  | 'tunnelServerIp'
  | 'tunnelEndpoints'
>;

/** Values that match the schema of their plugin, defaults applied. */
export interface CheckedValues extends Partial<CommonMembers> {
  readonly duration: DurationValues;
  readonly invalidChecksum?: boolean;
}

const checks = new Map<number, SchemaCheck>(plugins.map(({ id, schema }) => [id, createSchemaCheck(schema)]));

/** Undefined, with issues, when the values do not match the schema of the plugin. */
export const checkValues = (entry: FoundEntry, issues: PlanIssues): CheckedValues | undefined => {
  const { plugin, pluginId, path } = entry;
  if (plugin === undefined) {
    return issues.error(`${path}/plugin/id`, 'PLUGIN_UNKNOWN', `there is no plugin ${pluginId}`);
  }
  const values = structuredClone(entry.values) as Record<string, unknown>;
  const problems = checks.get(pluginId)?.(values, `${path}/values`) ?? [];
  for (const problem of problems) issues.error(problem.path, problem.code, problem.message);
  if (problems.length > 0) return undefined;
  for (const pointer of unsupportedMembers(plugin.schema, entry.values, `${path}/values`)) {
    issues.error(pointer, 'NOT_SUPPORTED', `plugin ${plugin.name} cannot do this yet: leave it out`);
  }
  return values as unknown as CheckedValues;
};

/** The entries of one plugin whose values match its schema; the others get their issues when the task is planned. */
export const validEntriesOf = <Schema extends TObject>(
  plugin: TypedPlugin<Schema>,
  configuration: readonly ConfigurationEntry[],
): { readonly path: string; readonly values: Static<Schema> }[] =>
  entriesOf([...configuration])
    .filter(({ pluginId }) => pluginId === plugin.id)
    .flatMap((entry) => {
      const values = checkValues(entry, new PlanIssues());
      return values === undefined ? [] : [{ path: entry.path, values: values as Static<Schema> }];
    });

interface Marked {
  readonly 'x-ignored'?: true;
  /** Values that cannot be done. */
  readonly 'x-unsupported'?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/** Members that have their default ask for nothing; a flag without a default is off. */
const asksForNothing = (schema: TSchema, value: unknown): boolean => {
  const { default: byDefault = false, properties } = schema as Marked;
  if (Array.isArray(value)) return value.length === 0 || JSON.stringify(value) === JSON.stringify(byDefault);
  if (properties === undefined || typeof value !== 'object' || value === null) return value === byDefault;
  return Object.entries(value).every(([name, part]) => asksForNothing(properties[name] ?? {}, part));
};

/** JSON pointers of members that ask for something no engine of the plugin does. */
export const unsupportedMembers = (schema: TSchema, value: unknown, path: string): string[] => {
  const { 'x-ignored': isIgnored, 'x-unsupported': unsupported = [], properties = {}, items } = schema as Marked;
  if (unsupported.includes(value)) return [path];
  if (isIgnored) return asksForNothing(schema, value) ? [] : [path];
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((part, i) => unsupportedMembers(items, part, `${path}/${i}`));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return member === undefined ? [] : unsupportedMembers(member, part, `${path}/${name}`);
  });
};
