import type { Schedule } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { calendarOf, spanOf } from './calendar.ts';

const november = new Date(2026, 10, 1);
const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString();
const schedule = (members: Partial<Schedule>) =>
  ({ taskID: 1, upcoming: [], conflicts: [], ...members }) as unknown as Schedule;

it('shows six whole weeks, starting on a Monday', () => {
  const { from, to } = spanOf(november);
  expect([from.getDay(), from.getMonth(), from.getDate()]).toEqual([1, 9, 26]);
  expect(Math.round((to.getTime() - from.getTime()) / 86_400_000)).toBe(42);
});

it('puts starts on their days, in order, with their own conflicts', () => {
  // The other run begins while this one is under way.
  const conflict = { taskID: 2, agentID: 7, at: at(16, 10) };
  const days = calendarOf(november, [
    schedule({ taskID: 1, upcoming: [at(16, 9), at(17, 9)], conflicts: [conflict] }),
    schedule({ taskID: 2, upcoming: [at(16, 8)] }),
  ]);
  const day = days.find(({ date, isInMonth }) => isInMonth && date.getDate() === 16);
  expect(day?.occurrences.map(({ schedule: { taskID }, conflicts }) => [taskID, conflicts])).toEqual([
    [2, []],
    [1, [conflict]],
  ]);
  expect(days.filter(({ isInMonth }) => isInMonth)).toHaveLength(30);
  expect(days.flatMap(({ occurrences }) => occurrences)).toHaveLength(3);
});
