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

it('shows no phases of several entries, and none of no length', () => {
  const two = [entry({ seconds: 9, rampUpSec: 5 }), entry({ seconds: 9 })];
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
