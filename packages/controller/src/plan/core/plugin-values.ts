import { type DurationValues, type FoundEntry, plugins } from '@rushhour/contract';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';
import { ignoredMembers } from './ignored-members.ts';
import type { PlanIssues } from './plan-issues.ts';

/** Values that fit their plugin, defaults filled in. What else is in them only the plugin knows. */
export interface CheckedValues {
  readonly duration: DurationValues;
  readonly [member: string]: unknown;
}

const checks = new Map<number, SchemaCheck>(plugins.map(({ id, schema }) => [id, createSchemaCheck(schema)]));

/** Undefined when the entry does not fit its plugin, which is told. */
export const checkValues = (entry: FoundEntry, issues: PlanIssues): CheckedValues | undefined => {
  const { plugin, pluginId, path } = entry;
  if (plugin === undefined) {
    return issues.error(`${path}/plugin/id`, 'PLUGIN_UNKNOWN', `there is no plugin ${pluginId}`);
  }
  const values = structuredClone(entry.values) as Record<string, unknown>;
  const problems = checks.get(pluginId)?.(values, `${path}/values`) ?? [];
  for (const { path: place, code, message } of problems) issues.error(place, code, message);
  if (problems.length > 0) return undefined;
  for (const place of ignoredMembers(plugin.schema, entry.values, `${path}/values`)) {
    issues.caveat(place, 'MEMBER_IGNORED', `${place.slice(1).replaceAll('/', '.')} is not honoured by any engine`);
  }
  return values as unknown as CheckedValues;
};
