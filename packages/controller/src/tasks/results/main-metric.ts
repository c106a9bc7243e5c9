import type { MetricValue } from '@rushhour/contract';

/** Names of metrics, without variants such as `http.status.200`. */
export const isMainMetric = ({ metric }: Pick<MetricValue, 'metric'>) =>
  !metric.startsWith('agent.') && metric.split('.').length <= 2;

/** A counter that stayed 0 says nothing unless it counts errors: often it belongs to the other side. */
export const isTelling = (value: MetricValue) =>
  isMainMetric(value) && (value.type !== 'counter' || Boolean(value.sum) || value.metric === 'errors');
