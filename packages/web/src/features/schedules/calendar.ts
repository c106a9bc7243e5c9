import type { Schedule } from '@rushhour/contract';

/** One start on the calendar. */
export interface Occurrence {
  readonly schedule: Schedule;
  readonly at: Date;
  /** Other tasks that need the same agents at the same time. */
  readonly conflicts: Schedule['conflicts'];
}

export interface Day {
  readonly date: Date;
  readonly isInMonth: boolean;
  readonly occurrences: readonly Occurrence[];
}

const daysOf = (first: Date, count: number) =>
  Array.from({ length: count }, (_, i) => new Date(first.getFullYear(), first.getMonth(), first.getDate() + i));

const dayKey = (date: Date) => `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;

/** The six weeks that the calendar of a month shows, from a Monday. */
export const spanOf = (month: Date): { from: Date; to: Date } => {
  const first = new Date(month.getFullYear(), month.getMonth(), 1);
  const from = new Date(first.getFullYear(), first.getMonth(), 1 - ((first.getDay() + 6) % 7));
  return { from, to: new Date(from.getFullYear(), from.getMonth(), from.getDate() + 42) };
};

/** The time of a conflict is when two runs overlap; it belongs to the start before it. */
const isOfStart = (conflictAt: number, starts: readonly number[], i: number) =>
  conflictAt >= (starts[i] ?? 0) && conflictAt < (starts[i + 1] ?? Number.POSITIVE_INFINITY);

const occurrencesOf = (schedule: Schedule): Occurrence[] => {
  const starts = schedule.upcoming.map((at) => Date.parse(at)).sort((a, b) => a - b);
  return starts.map((start, i) => ({
    schedule,
    at: new Date(start),
    conflicts: schedule.conflicts.filter(({ at }) => isOfStart(Date.parse(at), starts, i)),
  }));
};

/** The days of the calendar with their scheduled starts, in order. */
export const calendarOf = (month: Date, schedules: readonly Schedule[]): Day[] => {
  const byDay = Map.groupBy(schedules.flatMap(occurrencesOf), ({ at }) => dayKey(at));
  return daysOf(spanOf(month).from, 42).map((date) => ({
    date,
    isInMonth: date.getMonth() === month.getMonth(),
    occurrences: (byDay.get(dayKey(date)) ?? []).sort((a, b) => a.at.getTime() - b.at.getTime()),
  }));
};
