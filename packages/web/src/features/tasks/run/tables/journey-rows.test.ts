import type { RunSummary } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { journeyRows } from './journey-rows.ts';

const counter = (metric: string, sum: number) => ({ metric, type: 'counter', unit: '', sum });
const spread = (metric: string, count: number) => ({ metric, type: 'histogram', unit: 'µs', count, p95: 5 });

it('shows each journey with its steps, groups included', () => {
  const metrics = [
    counter('http.journeyIterations.shop', 10),
    counter('http.journeyFailed.shop', 2),
    spread('http.journeyTime.shop', 10),
    counter('http.stepRequests.shop.home', 10),
    counter('http.stepErrors.shop.home', 1),
    counter('http.stepChecksFailed.shop.home', 3),
    spread('http.stepLatency.shop.home', 10),
    counter('http.stepRequests.shop.group', 0),
    spread('http.stepLatency.shop.group', 9),
    counter('http.stepRequests.shop-2.other', 4),
  ];
  const summary = [
    { configurationIndex: 0, plugin: 'http', role: 'client', metrics },
    { configurationIndex: 0, plugin: 'http', role: 'server', metrics: [counter('http.served', 10)] },
  ] as unknown as RunSummary;
  const rows = journeyRows(summary).map(({ journey, step, count, errors, failed, time }) => [
    ...[journey, step, count, errors, failed, time?.p95],
  ]);
  expect(rows).toEqual([
    ['shop', '', 10, 0, 2, 5],
    ['shop', 'home', 10, 1, 3, 5],
    ['shop', 'group', 9, 0, 0, 5],
  ]);
});
