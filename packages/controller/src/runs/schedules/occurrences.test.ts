import { describe, expect, it } from 'vitest';
import { nextOccurrence, occurrencesBetween, type ScheduleTiming, scheduleTimingProblem } from './occurrences.ts';

const daily: ScheduleTiming = { at: null, cron: '30 2 * * *', timezone: 'Europe/Berlin', startsAt: null, endsAt: null };
const time = (text: string) => Date.parse(text);
const texts = (times: readonly number[]) => times.map((at) => new Date(at).toISOString());

describe('occurrences', () => {
  it('follow the clock of their time zone', () => {
    expect(texts([nextOccurrence(daily, time('2026-07-01T12:00:00Z')) ?? 0])).toEqual(['2026-07-02T00:30:00.000Z']);
    expect(texts([nextOccurrence(daily, time('2026-12-01T12:00:00Z')) ?? 0])).toEqual(['2026-12-02T01:30:00.000Z']);
  });

  it('come once a day also when the clock is put forward or back', () => {
    const days = (from: string, to: string) => occurrencesBetween(daily, time(from), time(to), 100).length;
    expect(days('2026-03-27T00:00:00Z', '2026-03-31T23:59:00Z')).toBe(5);
    expect(days('2026-10-23T00:00:00Z', '2026-10-27T23:59:00Z')).toBe(5);
  });

  it('keep within their span', () => {
    const spanned = { ...daily, timezone: 'UTC', startsAt: '2026-01-10T00:00:00Z', endsAt: '2026-01-12T00:00:00Z' };
    expect(texts(occurrencesBetween(spanned, time('2026-01-01T00:00:00Z'), time('2026-02-01T00:00:00Z'), 100))).toEqual(
      ['2026-01-10T02:30:00.000Z', '2026-01-11T02:30:00.000Z'],
    );
  });

  it('are at most as many as asked for', () => {
    const often = { ...daily, cron: '* * * * * *' };
    expect(occurrencesBetween(often, 0, 1e12, 100)).toHaveLength(100);
  });

  it('come once where a time is given', () => {
    const once = { ...daily, cron: null, at: '2026-05-01T10:00:00.000Z' };
    expect(nextOccurrence(once, time('2026-05-01T09:00:00Z'))).toBe(time('2026-05-01T10:00:00Z'));
    expect(nextOccurrence(once, time('2026-05-01T10:00:00Z'))).toBeNull();
  });
});

it.each([
  ['61 * * * *', 'UTC', 'cron'],
  ['nonsense', 'UTC', 'cron'],
  ['0 0 31 2 *', 'UTC', 'cron'],
  ['0 0 * * *', 'Mars/Olympus', 'timezone'],
])('%s in %s is refused', (cron, timezone, member) => {
  expect(scheduleTimingProblem({ cron, timezone })?.member).toBe(member);
});
