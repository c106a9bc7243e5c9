import type { MetricDescription } from '../../collections/task-plugins.ts';
import { commonMetrics } from './common-metrics.ts';
import type { PluginSpec } from './plugin.ts';

/** Everything that is reported about traffic of the plugin. */
export const metricsOf = (plugin: PluginSpec): MetricDescription[] => [...plugin.metrics, ...commonMetrics];

const fits = (pattern: string, name: string) =>
  pattern === name ||
  (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1)) && name.length > pattern.length - 1);

/** The description of a metric by its name; `http.status.200` is found as the family `http.status.*`. */
export const findMetric = (plugin: PluginSpec, name: string): MetricDescription | undefined =>
  metricsOf(plugin).find((metric) => fits(metric.name, name));
