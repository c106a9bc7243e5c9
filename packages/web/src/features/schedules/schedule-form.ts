import type { Schedule, ScheduleBody } from '@rushhour/contract';

/** The state of the schedule form; times as in `datetime-local` inputs. */
export interface ScheduleForm {
  readonly taskId: number | undefined;
  readonly kind: 'once' | 'cron';
  /** Local time without zone. */
  readonly at: string;
  readonly cron: string;
  readonly timezone: string;
  readonly startsAt: string;
  readonly endsAt: string;
  /** Members with generated fields. */
  readonly rest: Readonly<Record<string, unknown>>;
}

const hourMs = 3_600_000;
const two = (value: number) => String(value).padStart(2, '0');

/** `2026-11-14T09:30`, local. */
export const localOf = (time: string | null): string => {
  if (time === null) return '';
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
};

const utcOf = (local: string): string => new Date(local).toISOString();
const maybeUtc = (local: string): string | null => (local === '' ? null : utcOf(local));

export const newForm = (taskId: number | undefined, now = Date.now()): ScheduleForm => ({
  taskId,
  kind: 'once',
  at: localOf(new Date(Math.ceil(now / hourMs) * hourMs).toISOString()),
  cron: '0 2 * * *',
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  startsAt: '',
  endsAt: '',
  rest: { enabled: true },
});

export const formOf = (schedule: Schedule): ScheduleForm => {
  const { taskID, kind, at, cron, timezone, startsAt, endsAt, enabled, misfire, onConflict, priority, maxRuns } =
    schedule;
  return {
    ...newForm(taskID),
    kind,
    timezone,
    ...(at !== null && { at: localOf(at) }),
    ...(cron !== null && { cron }),
    startsAt: localOf(startsAt),
    endsAt: localOf(endsAt),
    rest: { enabled, misfire, onConflict, priority, ...(maxRuns !== null && { maxRuns }) },
  };
};

export const bodyOf = ({
  taskId = 0,
  kind,
  at,
  cron,
  timezone,
  startsAt,
  endsAt,
  rest,
}: ScheduleForm): ScheduleBody => ({
  id: taskId,
  ...(kind === 'once' ? { at: utcOf(at) } : { cron }),
  timezone,
  startsAt: maybeUtc(startsAt),
  endsAt: maybeUtc(endsAt),
  ...rest,
});
