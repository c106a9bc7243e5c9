import {
  accessPlanePluginId,
  controlPlanePluginId,
  entriesOf,
  findMetric,
  findPlugin,
  type PluginSpec,
  type Threshold,
  taskReferences,
} from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import type { Definition } from '../records/write-task.ts';

const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999'];

interface Used {
  readonly plugin: PluginSpec;
  /** Of the configuration entry; undefined for a plane. */
  readonly index?: number;
}

const usedPlugins = ({ configuration, accessPlane, controlPlane }: Definition): Used[] => {
  const planes = [
    ...(accessPlane.length > 0 ? [accessPlanePluginId] : []),
    ...(controlPlane.length > 0 ? [controlPlanePluginId] : []),
  ];
  return [
    ...entriesOf(configuration).flatMap(({ plugin, index }) => (plugin === undefined ? [] : [{ plugin, index }])),
    ...planes.flatMap((id) => findPlugin(id) ?? []).map((plugin) => ({ plugin })),
  ];
};

const scopeIssues = (definition: Definition, { scope = {} }: Threshold, path: string): Issue[] => {
  const { configurationIndex, agentID, pluginID } = scope;
  const unfit = (member: string, what: string): Issue => ({
    path: `${path}/scope/${member}`,
    code: 'SCOPE_UNKNOWN',
    message: `the task has no such ${what}`,
  });
  const hasEntry = configurationIndex === undefined || configurationIndex < definition.configuration.length;
  const hasPlugin = pluginID === undefined || usedPlugins(definition).some(({ plugin }) => plugin.id === pluginID);
  const hasAgent =
    agentID === undefined || taskReferences(definition).some(({ kind, id }) => kind === 'agent' && id === agentID);
  return [
    ...(hasEntry ? [] : [unfit('configurationIndex', 'entry')]),
    ...(hasPlugin ? [] : [unfit('pluginID', 'plugin')]),
    ...(hasAgent ? [] : [unfit('agentID', 'agent')]),
  ];
};

const metricIssues = (definition: Definition, threshold: Threshold, path: string): Issue[] => {
  const { metric, aggregation, scope = {} } = threshold;
  const within = usedPlugins(definition).filter(
    ({ plugin, index }) => (scope.pluginID ?? plugin.id) === plugin.id && (scope.configurationIndex ?? index) === index,
  );
  const found = within.flatMap(({ plugin }) => findMetric(plugin, metric) ?? []);
  const [first] = found;
  if (first === undefined) {
    const names = [...new Set(within.map(({ plugin }) => plugin.name))].join(', ') || 'nothing';
    return [{ path: `${path}/metric`, code: 'METRIC_UNKNOWN', message: `"${metric}" is not reported by ${names}` }];
  }
  if (!percentiles.includes(aggregation) || found.some(({ type }) => type === 'histogram')) return [];
  const message = `"${metric}" is a ${first.type}: only times of single events have percentiles`;
  return [{ path: `${path}/aggregation`, code: 'AGGREGATION_UNFIT', message }];
};

const ownIssues = ({ name, window }: Threshold, path: string, before: readonly Threshold[]): Issue[] => [
  ...(before.some((other) => other.name === name)
    ? [{ path: `${path}/name`, code: 'DUPLICATE', message: 'another threshold has this name' }]
    : []),
  ...(typeof window === 'object' && window.toSec <= window.fromSec
    ? [{ path: `${path}/window/toSec`, code: 'WINDOW_EMPTY', message: 'must be after fromSec' }]
    : []),
];

/** Issues of a task's thresholds: metrics that its plugins do not report, parts that it does not have. */
export const thresholdIssues = (
  definition: Definition,
  thresholds: readonly Threshold[],
  path = '/thresholds',
): Issue[] =>
  thresholds.flatMap((threshold, i) => {
    const at = `${path}/${i}`;
    const scope = scopeIssues(definition, threshold, at);
    return [
      ...ownIssues(threshold, at, thresholds.slice(0, i)),
      ...(scope.length > 0 ? scope : metricIssues(definition, threshold, at)),
    ];
  });
