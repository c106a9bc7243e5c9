import { Cron } from 'croner';

/** When a schedule is due: once at `at`, or repeatedly by `cron`. Times are RFC 3339. */
export interface ScheduleTiming {
  readonly at: string | null;
  readonly cron: string | null;
  readonly timezone: string;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
}

/** The problem of a cron expression or time zone; undefined when both are valid. */
export const scheduleTimingProblem = ({ cron, timezone }: Pick<ScheduleTiming, 'cron' | 'timezone'>) => {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    return { member: 'timezone', message: `is not a known time zone: ${timezone}` } as const;
  }
  if (cron === null) return undefined;
  try {
    if (new Cron(cron, { timezone, paused: true }).nextRun() !== null) return undefined;
    return { member: 'cron', message: 'never matches a date' } as const;
  } catch (error) {
    return { member: 'cron', message: (error as Error).message.replace(/^\w*Cron\w*: /, '') } as const;
  }
};

/** The first occurrence after a time (milliseconds since 1970), or null when none is left. */
export const nextOccurrence = (timetable: ScheduleTiming, afterMs: number): number | null => {
  const { at, cron, timezone, startsAt, endsAt } = timetable;
  const from = Math.max(afterMs, startsAt === null ? 0 : Date.parse(startsAt) - 1);
  const next = cron === null ? onceAfter(at, from) : cronAfter(cron, timezone, from);
  if (next === null || (endsAt !== null && next > Date.parse(endsAt))) return null;
  return next;
};

const onceAfter = (at: string | null, afterMs: number): number | null => {
  const time = at === null ? Number.NaN : Date.parse(at);
  return time > afterMs ? time : null;
};

const cronAfter = (cron: string, timezone: string, afterMs: number): number | null =>
  new Cron(cron, { timezone, paused: true }).nextRun(new Date(afterMs))?.getTime() ?? null;

/** Occurrences between two times, oldest first, up to a limit. */
export const occurrencesBetween = (timetable: ScheduleTiming, fromMs: number, toMs: number, max: number): number[] => {
  const found: number[] = [];
  let next = nextOccurrence(timetable, fromMs - 1);
  while (next !== null && next <= toMs && found.length < max) {
    found.push(next);
    next = nextOccurrence(timetable, next);
  }
  return found;
};
