import { findMetric, type GoalValues, type PluginSpec, searchedRate } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import { rateMembers } from '../../plan/core/load/load-stages.ts';
import type { CheckedEntry, Rule } from './checked-entry.ts';

const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999'];
const otherLoads = [...rateMembers, 'initialTps', 'tpsRampStep', 'totalSessions'];
const unlimited = ['rpsUnlimited', 'ppsUnlimited'];
const timeParts = ['rampUpSec', 'warmUpSec', 'rampDownSec'];

type Values = Readonly<Record<string, unknown>>;

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

/** Why connections cannot be kept open; undefined where they can. */
const sessionsProblem = ({ plugin, values }: CheckedEntry): string | undefined => {
  const { httpParams, tcpConfiguration } = values as Readonly<Record<string, Values | undefined>>;
  if (plugin.name === 'http') {
    const { journeys = [], webSocket } = (httpParams ?? {}) as { journeys?: readonly unknown[]; webSocket?: unknown };
    if (webSocket !== undefined) return 'the number of WebSocket connections cannot be changed';
    return journeys.length > 0 ? 'users of journeys open connections as they need them' : undefined;
  }
  if (plugin.name !== 'tcp') return `${plugin.name} keeps no sessions open`;
  const { mode = 'connect', holdMs = 0 } = tcpConfiguration ?? {};
  return mode === 'connect' && holdMs === 0 ? 'connections are closed at once: give holdMs or another mode' : undefined;
};

/** Why this load cannot be searched; undefined where it can. */
const metricProblem = (entry: CheckedEntry, metric: string): string | undefined => {
  const { plugin, values } = entry;
  if (metric === 'concurrentSessions') return sessionsProblem(entry);
  if (!plugin.canChangeLoad || searchedRate(metric, plugin.schema.properties) === undefined) {
    return `${plugin.name} has no ${metric} to change`;
  }
  const hasHandshakes = plugin.name !== 'tcp' && plugin.name !== 'application' && !isPlainHttp(plugin, values);
  return metric === 'handshakesPerSecond' && !hasHandshakes ? `${plugin.name} has no handshakes here` : undefined;
};

const isPlainHttp = ({ name }: PluginSpec, values: Values) => name === 'http' && values['tlsParams'] === undefined;

/** A goal replaces every other way to give a load, and searches one that this plugin can change. */
export const goal: Rule = (entry) => {
  const { plugin, values, order } = entry;
  const given = durationOf(entry).goal;
  if (given === undefined) return [];
  const path = `${entry.path}/duration/goal`;
  if (values.isServer) return [{ path, code: 'NOT_SUPPORTED', message: 'servers have no load to search' }];
  if (order >= 0) return [{ path, code: 'NOT_SUPPORTED', message: 'stages of a suite cannot search' }];
  const problem = metricProblem(entry, given.metric);
  return [
    ...(problem === undefined ? [] : [{ path: `${path}/metric`, code: 'NOT_SUPPORTED', message: problem }]),
    ...(given.start > given.max
      ? [{ path: `${path}/start`, code: 'RATE_CONFLICT', message: `is above max, which is ${given.max}` }]
      : []),
    ...conflicts(entry),
    ...conditionIssues(plugin, given, path),
  ];
};
