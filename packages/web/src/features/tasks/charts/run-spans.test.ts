import type { RunEvent } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { spansOf } from './run-spans.ts';

const entry = (duration: object) => ({ plugin: { id: 1 }, values: { duration } }) as never;
const status = (second: number, value: number) =>
  ({ ts: new Date(second * 1000).toISOString(), data: { status: value } }) as unknown as RunEvent;

it('shows ramps and warm-up where they are', () => {
  const configuration = [entry({ seconds: 60, rampUpSec: 5, warmUpSec: 8, rampDownSec: 10 })];
  const spans = spansOf({ configuration, events: [], from: 0, to: 60_000 });
  expect(spans.map(({ from, to, label }) => [label, from, to])).toEqual([
    ['Ramp-up', 0, 5000],
    ['Warm-up', 5000, 8000],
    ['Ramp-down', 50_000, 60_000],
  ]);
});

it('shows the stages of a load, and those of a suite', () => {
  const stages = [
    { seconds: 10, target: 500 },
    { seconds: 20, target: 2000 },
  ];
  const labelled = (configuration: never[]) =>
    spansOf({ configuration, events: [], from: 0, to: 60_000 }).map(({ from, to, label }) => [label, from, to]);
  expect(labelled([entry({ stages })])).toEqual([
    ['Stage 1: 500', 0, 10_000],
    ['Stage 2: 2,000', 10_000, 30_000],
  ]);
  const child = (id: number, order: number, more = {}) => ({
    ...{ plugin: { id }, order, values: { duration: { seconds: 5 } }, ...more },
  });
  const subplugins = [child(1, 1), child(1, 0), child(2, 1, { startAfterSec: 2 })];
  expect(labelled([{ plugin: { id: 21 }, subplugins: { subplugins } } as never])).toEqual([
    ['Stage 1: HTTP', 0, 5000],
    ['Stage 2: HTTP, TCP', 5000, 12_000],
  ]);
});

it('shows phases that all entries share, and none of no length', () => {
  const two = [entry({ seconds: 9, rampUpSec: 5 }), entry({ seconds: 9 })];
  const [ramped] = two;
  const alike = spansOf({ configuration: [ramped, ramped] as never, events: [], from: 0, to: 9000 });
  expect(alike.map(({ label }) => label)).toEqual(['Ramp-up']);
  expect(spansOf({ configuration: two, events: [], from: 0, to: 9000 })).toEqual([]);
  expect(spansOf({ configuration: [entry({ seconds: 9 })], events: [], from: 0, to: 9000 })).toEqual([]);
});

it('shows pauses until the next status, the last one until now', () => {
  const events = [status(1, 4), status(3, 5), status(5, 4), status(8, 5)];
  const spans = spansOf({ configuration: [], events, from: 0, to: 9000 });
  expect(spans.map(({ from, to }) => [from, to])).toEqual([
    [3000, 5000],
    [8000, 9000],
  ]);
});
