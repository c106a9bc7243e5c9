import type { MetricSnapshot } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { appended, emptySeries } from './run-series.ts';

const snapshot = (second: number, metrics: object[]): MetricSnapshot => ({
  runId: 1,
  ts: new Date(second * 1000).toISOString(),
  seq: second,
  values: [{ labels: {}, metrics: metrics as MetricSnapshot['values'][number]['metrics'] }],
});
const load = (rate: number) => ({ metric: 'achievedLoad', unit: '1/s', type: 'gauge', last: rate });
const timeouts = (rate: number) => ({ metric: 'http.errors.timeout', unit: '', type: 'counter', sum: 9, rate });
const latency = { metric: 'http.latency', unit: 'µs', type: 'histogram', p50: 1, p95: 2, p99: 3, max: 4 };

it('appends the values that charts show', () => {
  const series = appended(
    emptySeries,
    snapshot(1, [load(10), latency, { ...load(1), metric: 'agent.x' }]),
    'http.latency',
  );
  expect(series).toEqual({
    t: [1000],
    values: {
      achievedLoad: [10],
      'http.latency:p50': [1],
      'http.latency:p95': [2],
      'http.latency:p99': [3],
      'http.latency:max': [4],
    },
  });
});

it('adds error kinds when they first occur', () => {
  const first = appended(emptySeries, snapshot(1, [load(10)]), 'http.latency');
  const second = appended(first, snapshot(2, [load(11), timeouts(3)]), 'http.latency');
  expect(second.values).toEqual({ achievedLoad: [10, 11], 'http.errors.timeout': [null, 3] });
});

it('ignores a second it already has', () => {
  const first = appended(emptySeries, snapshot(2, [load(10)]), 'http.latency');
  expect(appended(first, snapshot(2, [load(99)]), 'http.latency')).toBe(first);
  expect(appended(first, snapshot(1, [load(99)]), 'http.latency')).toBe(first);
});
