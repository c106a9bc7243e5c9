import type { RunResult } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { trendsOf } from './trends.ts';

const result = (id: number, metrics: object[]) =>
  ({
    id,
    number: id,
    verdict: 1,
    labels: { device: 'fw 1.0' },
    summary: [{ role: 'client', metrics }],
  }) as unknown as RunResult;

it('shows the numbers that several runs have', () => {
  const metrics = (p95: number) => [
    { metric: 'achievedLoad', avg: 100 },
    { metric: 'http.latency', p95 },
    { metric: 'errors', sum: 0 },
  ];
  const trends = trendsOf([result(1, metrics(900)), result(2, metrics(1200))]);
  expect(trends.map(({ label, points }) => [label, points.map(({ value }) => value)])).toEqual([
    ['Actual load', [100, 100]],
    ['Latency p95', [900, 1200]],
  ]);
});

it('reckons the block rate of security runs', () => {
  const counts = (blocked: number, passed: number) => [
    { metric: 'waf.blocked', sum: blocked },
    { metric: 'waf.passed', sum: passed },
  ];
  const [rate] = trendsOf([result(1, counts(1, 3)), result(2, counts(3, 1))]);
  expect(rate?.points.map(({ value }) => rate.format(value))).toEqual(['25.0 %', '75.0 %']);
});
