import { expect, it } from 'vitest';
import { rfc2544Lines } from '../report/csv-report.ts';
import { rfc2544Section } from '../report/html-report.ts';
import { gatherRfc2544 } from './rfc2544.ts';

const side = 'rfc2544';
const counts = { offeredFps: 100, sent: 100, received: 90, lossPct: 10 };
const found = { fps: 81_274, bps: 987e6, linePct: 98.7, trials: 4, limit: 'path' };
const times = { minUs: 3, avgUs: 9, p50Us: 8, p99Us: 1200, maxUs: 2000 };
const reported = [
  { side, kind: 'trial', frameSize: 64, test: 'throughput', number: 1, ...counts, drops: 0, passed: false },
  { side, kind: 'throughput', frameSize: 64, ...found },
  { side, kind: 'latency', frameSize: 64, offeredFps: 81_274, frames: 81_274, ...times },
  { side, kind: 'frameLoss', frameSize: 64, ratePct: 100, ...counts },
  { side, kind: 'frameLoss', frameSize: 64, ratePct: 90, ...counts, received: 100, lossPct: 0 },
  { side, kind: 'backToBack', frameSize: 128, frames: 17.5, burstFps: 1e6, repeats: 2, isLongest: true },
];

it('what senders tell of their trials becomes a row for each size', () => {
  const rows = gatherRfc2544(3, [
    { side: 'control' },
    ...reported,
    { side, kind: 'throughput', frameSize: 64, fps: 'many' },
  ]);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toEqual({
    configurationIndex: 3,
    frameSize: 64,
    throughput: found,
    latency: { offeredFps: 81_274, frames: 81_274, ...times },
    frameLoss: [
      { ratePct: 100, ...counts },
      { ratePct: 90, ...counts, received: 100, lossPct: 0 },
    ],
    trials: [{ test: 'throughput', number: 1, ...counts, drops: 0, passed: false }],
  });
  expect(rows[1]).toMatchObject({ frameSize: 128, backToBack: { frames: 17.5 }, frameLoss: [], trials: [] });
});

it('the report has a table for each test, as people read it and as programs do', () => {
  const rows = gatherRfc2544(0, reported);
  const html = rfc2544Section(rows);
  for (const text of ['81,274', '987.000', '98.7 %', 'the path', '1.20 ms', '10.000 %', 'at least 18']) {
    expect(html).toContain(text);
  }
  expect(rfc2544Section([])).toBe('<p>No trials</p>');
  const lines = rfc2544Lines(7, rows);
  expect(lines.map((line) => line.slice(0, 4))).toEqual([
    [7, 0, 64, 'throughput'],
    [7, 0, 64, 'latency'],
    [7, 0, 64, 'frameLoss'],
    [7, 0, 64, 'frameLoss'],
    [7, 0, 128, 'backToBack'],
  ]);
});
