import type { MetricDescription } from '../../collections/task-plugins.ts';

type Better = MetricDescription['better'];
const metricOf =
  (type: MetricDescription['type']) =>
  (name: string, description: string, { unit = '', better = 'none' as Better, labels = [] as string[] } = {}) => ({
    name,
    unit,
    type,
    labels,
    better,
    description,
  });

/** What happened, counted. */
export const counter = metricOf('counter');
/** How something stands at the end of a second. */
export const gauge = metricOf('gauge');
/** How long something took, every single time; microseconds unless said. */
export const latency = (name: string, description: string): MetricDescription =>
  metricOf('histogram')(name, description, { unit: 'µs', better: 'lower' });

/** Counters that share a name up to its last part: `http.status.*` stands for `http.status.200` and so on. */
export const family = (name: string, label: string, description: string, better: Better = 'none'): MetricDescription =>
  counter(`${name}.*`, description, { labels: [label], better });

export const bytes = (name: string, description: string): MetricDescription =>
  counter(name, description, { unit: 'B' });

/** Failures of an engine by class. */
export const errorsOf = (engine: string): MetricDescription =>
  family(
    `${engine}.errors`,
    'kind',
    'Failures by class: refused, reset, timeout, unreachable, tls, local, other and those of the protocol',
    'lower',
  );

/** What every client with a paced load says of it. */
export const loadMetricsOf = (engine: string): MetricDescription[] => [
  gauge(`${engine}.targetLoad`, 'The rate that is wanted', { unit: '1/s' }),
  counter(`${engine}.dropped`, 'Events that were due and could not be begun', { better: 'lower' }),
];

/** What every agent says of the strain of generating traffic. */
export const generatorMetrics: readonly MetricDescription[] = [
  gauge('agent.cpuPct', 'Processor time of the generator; 100 is one core', { unit: '%', better: 'lower' }),
  gauge('agent.loopLagMs', 'Longest time the generator was away', { unit: 'ms', better: 'lower' }),
  gauge('agent.scheduleLagMs', 'How late events began, 99th percentile', { unit: 'ms', better: 'lower' }),
  latency('agent.scheduleLag', 'How late events began'),
  counter('agent.socketErrors', 'Failures of the agent’s own sockets: no ports, no descriptors, no buffers', {
    better: 'lower',
  }),
];
