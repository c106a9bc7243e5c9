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
  'sources' | 'targets' | 'isServer' | 'ipLayer' | 'clientPortRange' | 'rotationMode' | 'cpuCores' | 'l2PolicyVersion'
>;

/** Values that match the schema of their plugin, defaults applied. */
export interface CheckedValues extends Partial<CommonMembers> {
  readonly duration: DurationValues;
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
  for (const pointer of ignoredMembers(plugin.schema, entry.values, `${path}/values`)) {
    const member = pointer.slice(1).replaceAll('/', '.');
    issues.caveat(pointer, 'MEMBER_IGNORED', `${member} is not honoured by any engine`);
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
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/** JSON pointers of members that are given and that no engine honours. */
const ignoredMembers = (schema: TSchema, value: unknown, path: string): string[] => {
  const { 'x-ignored': isIgnored, properties = {}, items } = schema as Marked;
  if (isIgnored) return [path];
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((part, i) => ignoredMembers(items, part, `${path}/${i}`));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return member === undefined ? [] : ignoredMembers(member, part, `${path}/${name}`);
  });
};
