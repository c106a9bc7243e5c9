import { defaultSettings } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { commonStart, defaultTiming, prepareDeadline, queueDeadline, runningDeadline } from './deadlines.ts';

const { tasks } = defaultSettings;
const at = (text: string) => Date.parse(`2026-01-01T${text}Z`);

describe('a deadline', () => {
  it('of a run that shall begin later counts from then', () => {
    expect(queueDeadline(tasks, at('10:00:00'), null)).toBe('2026-01-01T11:00:00.000Z');
    expect(queueDeadline(tasks, at('10:00:00'), '2026-01-01T12:00:00.000Z')).toBe('2026-01-01T13:00:00.000Z');
    expect(queueDeadline(tasks, at('10:00:00'), '2025-01-01T12:00:00.000Z')).toBe('2026-01-01T11:00:00.000Z');
  });
  it('of a preparation grows with the files', () => {
    expect(prepareDeadline(tasks, at('10:00:00'), 0)).toBe('2026-01-01T10:02:00.000Z');
    expect(prepareDeadline(tasks, at('10:00:00'), 60 * 1024 * 1024)).toBe('2026-01-01T10:03:00.000Z');
  });
  it('of a run moves with its pauses, and is none when it ends by hand', () => {
    const run = { t0: at('10:00:00'), plannedSec: 60, pausedMs: 5000 };
    expect(runningDeadline(run, defaultTiming)).toBe('2026-01-01T10:01:35.000Z');
    expect(runningDeadline({ ...run, plannedSec: null }, defaultTiming)).toBeNull();
  });
});

it('the common start leaves time for the slowest agent to hear of it', () => {
  expect(commonStart(1000, [1, 20], defaultTiming)).toBe(2000);
  expect(commonStart(1000, [1, 700.5], defaultTiming)).toBe(3102);
  expect(commonStart(1000, [], defaultTiming)).toBe(2000);
  expect(commonStart(1000, new Array(10_000).fill(1), defaultTiming)).toBe(5000);
});
