import { findMetric, type GoalValues, type PluginSpec } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { rateMembers } from '../../plan/core/load-stages.ts';
import type { CheckedEntry, Rule } from './checked-entry.ts';

const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999'];
const otherLoads = [...rateMembers, 'initialTps', 'tpsRampStep', 'totalSessions'];
const unlimited = ['rpsUnlimited', 'ppsUnlimited'];
const timeParts = ['rampUpSec', 'warmUpSec', 'rampDownSec'];

interface Duration extends Readonly<Record<string, unknown>> {
  readonly goal?: GoalValues;
  readonly mode?: string;
  readonly stages?: readonly unknown[];
}

const durationOf = ({ values }: CheckedEntry) => (values['duration'] ?? {}) as Duration;

/** Members that give a load or a length in another way. */
const conflicts = (entry: CheckedEntry): Issue[] => {
  const { path, values } = entry;
  const duration = durationOf(entry);
  const names = [
    ...otherLoads.filter((name) => values[name] !== undefined),
    ...unlimited.filter((name) => values[name] === true),
    ...timeParts.filter((name) => Number(duration[name] ?? 0) > 0).map((name) => `duration/${name}`),
    ...(duration.stages?.length ? ['duration/stages'] : []),
    ...((duration.mode ?? 'time') === 'time' ? [] : ['duration/mode']),
  ];
  const message = 'cannot be given together with duration.goal';
  return names.map((name) => ({ path: `${path}/${name}`, code: 'RATE_CONFLICT', message }));
};

const conditionIssues = (plugin: PluginSpec, { while: conditions }: GoalValues, path: string): Issue[] =>
  conditions.flatMap(({ metric, aggregation }, index): Issue[] => {
    const found = findMetric(plugin, metric);
    const at = `${path}/while/${index}`;
    if (found === undefined) {
      return [
        { path: `${at}/metric`, code: 'METRIC_UNKNOWN', message: `"${metric}" is not reported by ${plugin.name}` },
      ];
    }
    if (!percentiles.includes(aggregation) || found.type === 'histogram') return [];
    const message = `"${metric}" is a ${found.type}: only times of single events have percentiles`;
    return [{ path: `${at}/aggregation`, code: 'AGGREGATION_UNFIT', message }];
  });

/** A goal replaces every other way to give a load, and searches one that this plugin can change. */
export const goal: Rule = (entry) => {
  const { plugin, values, order } = entry;
  const given = durationOf(entry).goal;
  if (given === undefined) return [];
  const path = `${entry.path}/duration/goal`;
  if (values.isServer) return [{ path, code: 'NOT_SUPPORTED', message: 'servers have no load to search' }];
  if (order >= 0) return [{ path, code: 'NOT_SUPPORTED', message: 'stages of a suite cannot search' }];
  const isPossible = plugin.canChangeLoad && given.metric in plugin.schema.properties;
  const missing = `${plugin.name} has no ${given.metric} to change`;
  return [
    ...(isPossible ? [] : [{ path: `${path}/metric`, code: 'NOT_SUPPORTED', message: missing }]),
    ...(given.start > given.max
      ? [{ path: `${path}/start`, code: 'RATE_CONFLICT', message: `is above max, which is ${given.max}` }]
      : []),
    ...conflicts(entry),
    ...conditionIssues(plugin, given, path),
  ];
};
