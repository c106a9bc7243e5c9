import type { RunResult } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { planeKpis, securityKpis, trafficKpis } from './run-kpis.ts';

const side = (role: string, metrics: object[]) =>
  [{ configurationIndex: 0, role, metrics }] as unknown as RunResult['summary'];
const counter = (metric: string, sum: number) => ({ metric, sum, type: 'counter' });
const none = { t: [], values: {} };

it('shows the whole run when it has ended, and the newest second while it is active', () => {
  const summary = side('client', [
    { metric: 'achievedLoad', avg: 90 },
    { metric: 'targetLoad', avg: 100 },
    { metric: 'http.latency', p95: 1500 },
    counter('errors', 5),
    counter('http.ok', 95),
  ]);
  const ended = trafficKpis({ series: none, latency: 'http.latency', result: { summary, durationSec: 61 } });
  expect(ended.map(({ value, note, tone }) => [value, note, tone])).toEqual([
    ['90 /s', 'Target 100 /s', 'bad'],
    ['1.50 ms', 'http.latency', undefined],
    ['5', '5.0 %', 'bad'],
    ['1:01', undefined, undefined],
  ]);
  const series = { t: [1, 2, 3], values: { achievedLoad: [10, 20, null], 'http.latency:p95': [null, 900, null] } };
  const live = trafficKpis({ series, latency: 'http.latency', result: undefined });
  expect(live.map(({ value }) => value)).toEqual(['20 /s', '900 µs']);
});

it('counts attacks and harmless requests apart', () => {
  const summary = side('client', [
    ...[counter('waf.sent', 40), counter('waf.blocked', 30), counter('waf.passed', 10)],
    ...[counter('waf.benign', 20), counter('waf.falsePositives', 2)],
  ]);
  expect(securityKpis(summary).map(({ value }) => value)).toEqual(['60', '75.0 %', '10', '2']);
});

it('counts the rows that are up', () => {
  const tables = [{ name: 'sessions', rows: 10, states: { Established: 8, failed: 2 } }] as RunResult['tables'];
  expect(planeKpis(tables)).toEqual([{ label: 'Sessions', value: '10', note: '8 up' }]);
  // The table has both ends of a session.
  const steps = [
    { label: 'up', count: 3, kind: 'up' as const },
    { label: 'LCP', count: 2, kind: 'setup' as const },
  ];
  expect(planeKpis(tables, steps)).toEqual([{ label: 'Sessions', value: '5', note: '3 up' }]);
});
