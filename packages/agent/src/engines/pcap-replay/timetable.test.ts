import { expect, it } from 'vitest';
import { timetableOf } from './timetable.ts';

const frames = { timesMs: [0, 10, 30], lengths: [60, 121, 246] };
const table = (mode: 'original' | 'pps' | 'bps' | 'max', more: { value?: number; multiplier?: number } = {}) =>
  timetableOf(frames, { speed: { mode, multiplier: 1, ...more }, loopDelayMs: 5 });

it('original times are divided by the multiplier; a loop is one average gap longer than its last frame', () => {
  expect(table('original')).toEqual({ dueMs: Float64Array.of(0, 10, 30), loopMs: 50 });
  expect(table('original', { multiplier: 2 })).toEqual({ dueMs: Float64Array.of(0, 5, 15), loopMs: 27.5 });
});

it('a frame or bit rate spaces frames evenly', () => {
  expect(table('pps', { value: 100 })).toEqual({ dueMs: Float64Array.of(0, 10, 20), loopMs: 35 });
  expect(table('bps', { value: 8000 })).toEqual({ dueMs: Float64Array.of(0, 64, 189), loopMs: 444 });
  expect(() => table('pps')).toThrow('speed pps needs a value');
});

it('at maximum speed there is no timetable', () => {
  expect(table('max')).toBeUndefined();
});
