import type { MetricValue } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { compareMetrics, unknownOf, verdictOf } from './comparison.ts';

const rate = (metric: string, value: number): MetricValue => ({
  metric,
  unit: '',
  type: 'counter',
  sum: 1,
  rate: value,
});
const gauge = (metric: string, avg: number): MetricValue => ({ metric, unit: '%', type: 'gauge', avg });
const latency = (metric: string, value: number): MetricValue => ({
  ...{ metric, unit: 'µs', type: 'histogram', avg: value, p50: value, p95: value * 2, p99: value * 3 },
});
const compare = (base: MetricValue[], target: MetricValue[], wanted?: string[]) =>
  compareMetrics(base, target, { tolerancePct: 5, wanted });

describe('comparison of runs', () => {
  it('takes a change up to the tolerance for none', () => {
    const [small] = compare([rate('http.requests', 100)], [rate('http.requests', 105)]);
    expect(small).toMatchObject({ delta: 5, deltaPct: 5, better: 'higher', significant: false });
    const [large] = compare([rate('http.requests', 100)], [rate('http.requests', 94)]);
    expect(large).toMatchObject({ delta: -6, deltaPct: -6, significant: true });
  });

  it('takes something where there was nothing for a change, without a percentage', () => {
    expect(compare([rate('errors', 0)], [rate('errors', 1)])).toMatchObject([
      { base: 0, target: 1, delta: 1, deltaPct: null, significant: true, better: 'lower' },
    ]);
    expect(compare([rate('errors', 0)], [rate('errors', 0)])).toMatchObject([{ delta: 0, significant: false }]);
  });

  it('leaves the cases of a metric out unless they are asked for, and shows what only one run has', () => {
    const base = [rate('http.requests', 1), rate('http.status.200', 1), gauge('agent.cpuPct', 5)];
    const target = [rate('http.requests', 1), rate('dns.queries', 7)];
    expect(compare(base, target).map((row) => [row.metric, row.base, row.target])).toEqual([
      ['http.requests', 1, 1],
      ['dns.queries', null, 7],
    ]);
    expect(compare(base, target, ['http.status.200'])).toMatchObject([{ metric: 'http.status.200', base: 1 }]);
  });

  it('reads a statistic from the end of a name', () => {
    const [base, target] = [[latency('http.latency', 100)], [latency('http.latency', 200)]];
    expect(compare(base, target).map(({ metric }) => metric)).toEqual([
      'http.latency.p99',
      'http.latency.p50',
      'http.latency.avg',
    ]);
    expect(compare(base, target, ['http.latency', 'http.latency.p95']).map((row) => row.base)).toEqual([300, 200]);
    expect(unknownOf(['http.latency.p95', 'http.latency', 'http.latency.p42', 'x'], base, target)).toEqual([
      'http.latency.p42',
      'x',
    ]);
  });

  it.each([
    [
      'better',
      [rate('http.requests', 1), latency('http.latency', 9)],
      [rate('http.requests', 2), latency('http.latency', 8)],
    ],
    ['worse', [rate('http.requests', 2)], [rate('http.requests', 1)]],
    [
      'mixed',
      [rate('http.requests', 1), latency('http.latency', 8)],
      [rate('http.requests', 2), latency('http.latency', 9)],
    ],
    ['same', [rate('http.requests', 100)], [rate('http.requests', 101)]],
    [
      'same',
      [rate('http.requests', 100), gauge('agentCpuPct', 10)],
      [rate('http.requests', 100), gauge('agentCpuPct', 90)],
    ],
    ['incomparable', [rate('http.requests', 1)], [rate('dns.queries', 1)]],
    ['incomparable', [], []],
  ])('is %s where it should be', (verdict, base, target) => {
    expect(verdictOf(compare(base, target))).toBe(verdict);
  });
});
