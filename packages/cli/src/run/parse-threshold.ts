import type { Threshold } from '@rushhour/contract';
import { UsageError } from '../exit-codes.ts';

const aggregations = ['min', 'max', 'avg', 'p50', 'p90', 'p95', 'p99', 'p999', 'sum', 'rate', 'last', 'count'];

/** Durations are compared in microseconds; other suffixes multiply. */
const suffixes: Readonly<Record<string, number>> = {
  '': 1,
  us: 1,
  µs: 1,
  ms: 1000,
  s: 1_000_000,
  '%': 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
};

const form =
  /^\s*(?:([a-z]+\d*)\s*\(\s*([\w.-]+)\s*\)|([\w.-]+))\s*(<=|>=|==|!=|<|>)\s*(-?[\d_]*\.?\d+(?:e[+-]?\d+)?)\s*(us|µs|ms|s|%|k|K|M|G)?((?:\s+(?:abort|warn))*)\s*$/;

/**
 * A threshold as text: `p99(http.latency) < 20ms`, `rate(http.requests) >= 1k`, `errors == 0 abort`. A metric without an
 * aggregation is summed. `abort` ends the run once it does not hold, `warn` never fails the verdict.
 */
export const parseThreshold = (text: string): Threshold => {
  const found = form.exec(text);
  const example = "such as 'p99(http.latency)<20ms' or 'errors==0 abort'";
  if (found === null) throw new UsageError(`the threshold "${text}" is not understood: write it ${example}`);
  const [, aggregation = 'sum', inner, alone, operator = '', number = '', suffix = '', words = ''] = found;
  if (!aggregations.includes(aggregation)) {
    throw new UsageError(`the threshold "${text}" has no known aggregation: ${aggregations.join(', ')}`);
  }
  const value = Number(number.replaceAll('_', '')) * (suffixes[suffix] ?? 1);
  return {
    name: text.trim().replaceAll(/\s+/g, ' '),
    metric: inner ?? alone ?? '',
    aggregation: aggregation as Threshold['aggregation'],
    operator: operator as Threshold['operator'],
    value,
    ...(words.includes('abort') && { abortOnFail: true }),
    ...(words.includes('warn') && { severity: 'warn' }),
  };
};
