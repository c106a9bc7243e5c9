import type { MetricValue } from '@rushhour/contract';

/** Names of one kind of thing, and not of one of its many cases such as `http.status.200`. */
export const isMainMetric = ({ metric }: Pick<MetricValue, 'metric'>) =>
  !metric.startsWith('agent.') && metric.split('.').length <= 2;
