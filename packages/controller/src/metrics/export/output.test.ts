import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Output, PointsRefused } from './output.ts';
import type { Point } from './points.ts';

const log = pino({ level: 'silent' });
const points = (count: number): Point[] =>
  Array.from({ length: count }, (_, at) => ({ name: 'x', unit: '', labels: {}, value: at, at }));

it('an output that is away keeps a bounded number of points, the newest, and sends them in order', async () => {
  const taken: number[] = [];
  let isAway = true;
  const send = async (batch: readonly Point[]) => {
    if (isAway) throw new Error('away');
    taken.push(...batch.map(({ at }) => at));
  };
  const output = new Output({ name: 'test', log, send });
  output.add(points(150_000));
  output.add(points(150_000));
  expect(output.counts.dropped).toBe(100_000);
  await expect.poll(() => output.counts.failures).toBeGreaterThan(0);
  isAway = false;
  await expect.poll(() => output.counts.sent).toBe(200_000);
  expect([taken[0], taken.at(-1), taken.length]).toEqual([100_000, 149_999, 200_000]);
  await output.close();
});

it('points that a receiver refuses are not sent again', async () => {
  let calls = 0;
  const send = async () => {
    calls += 1;
    throw new PointsRefused('answered with status 400');
  };
  const output = new Output({ name: 'test', log, send });
  output.add(points(10));
  await expect.poll(() => output.counts.dropped).toBe(10);
  await output.close();
  expect(calls).toBe(1);
});
