import type { Threshold } from './collections/tasks/task.ts';

const signs: Readonly<Record<Threshold['operator'], string>> = {
  ...{ '<': '<', '<=': '≤', '>': '>' },
  ...{ '>=': '≥', '==': '=', '!=': '≠' },
};

/** What is compared: the last value of a metric is called by its name alone. */
export const measureText = ({ aggregation, metric }: Pick<Threshold, 'aggregation' | 'metric'>): string =>
  aggregation === 'last' ? metric : `${aggregation} of ${metric}`;

/** The comparison of a threshold: `≥ 98`. */
export const limitText = (operator: Threshold['operator'], value: string | number): string =>
  `${signs[operator]} ${value}`;

/** The condition of a threshold: `p99 of http.latency ≤ 250 ms`. */
export const conditionText = (
  threshold: Pick<Threshold, 'aggregation' | 'metric' | 'operator'>,
  value: string | number,
): string => `${measureText(threshold)} ${limitText(threshold.operator, value)}`;
