import type { api, Schedule, ScheduleBody } from '@rushhour/contract';
import type { Caller } from '../caller.ts';
import { cursorOf } from '../crud.ts';
import { conflict, type Issue, invalid, notFound, orNotFound } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import type { Calendar } from '../runs/schedules/calendar.ts';
import { nextOccurrence, scheduleTimingProblem } from '../runs/schedules/occurrences.ts';
import {
  definitionMark,
  dropSchedule,
  putSchedule,
  type ScheduleOfTask,
  type StoredSchedule,
  schedulesOf,
} from '../store/runs/schedules.ts';
import type { Store } from '../store/store.ts';
import { projects } from '../store/system/projects.ts';
import { findTask } from '../store/tasks/tasks.ts';

interface Deps {
  store: Store;
  calendar: Calendar;
}

const dayMs = 86_400_000;
const longestDays = 90;
const defaultDays = 7;

type Handled = 'schedules' | 'schedule' | 'unschedule';

/** The schedules of tasks. */
export const scheduleHandlers = ({ store, calendar }: Deps): Pick<Handlers<typeof api.tasks>, Handled> => ({
  schedules: async ({ query: { count = 20, page = 1, taskID, from, to } }) => {
    const found = await calendar.read(spanOf(from, to), taskID);
    const offset = (page - 1) * count;
    return {
      cursor: cursorOf(count, offset, found.length),
      data: found.slice(offset, offset + count).map(({ schedule, upcoming, conflicts }) => ({
        ...shownOf(schedule),
        upcoming,
        conflicts: [...conflicts],
      })),
    };
  },
  schedule: async ({ body }, caller) => {
    await assertSchedulable(store, body.id);
    const [present] = await schedulesOf(store.read, body.id);
    const wanted = mergedOf(body, present, caller);
    const isEnabled = body.enabled ?? present?.enabled ?? true;
    const conflicts = isEnabled
      ? await calendar.conflictsOf(wanted, { fromMs: Date.now(), toMs: Date.now() + defaultDays * dayMs })
      : [];
    await store.change(caller, async (tx) => {
      const task = await orNotFound(findTask(tx, body.id), 'task', body.id);
      const definition = definitionMark(task, store.secrets);
      await putSchedule(
        tx,
        { ...wanted, definition, updatedAt: tx.now, createdAt: present?.createdAt ?? tx.now },
        isEnabled,
      );
      tx.touch('tasks', body.id);
    });
    return { data: { nextRunAt: isEnabled ? wanted.nextRunAt : null, conflicts: [...conflicts] } };
  },
  unschedule: async ({ params: { id } }, caller) => {
    await orNotFound(findTask(store.read, id), 'task', id);
    await store.change(caller, async (tx) => {
      if (!(await dropSchedule(tx, id))) throw notFound('schedule of task', id);
      tx.touch('tasks', id);
    });
  },
});

const spanOf = (from: string | undefined, to: string | undefined) => {
  const fromMs = from === undefined ? Date.now() : Date.parse(from);
  const toMs = to === undefined ? fromMs + defaultDays * dayMs : Date.parse(to);
  if (!(toMs >= fromMs && toMs <= fromMs + longestDays * dayMs)) {
    const message = `must be after \`from\` and at most ${longestDays} days later`;
    throw invalid([{ path: '/to', in: 'query', code: 'SPAN', message }]);
  }
  return { fromMs, toMs };
};

const assertSchedulable = async (store: Store, id: number) => {
  const task = await orNotFound(findTask(store.read, id), 'task', id);
  const project = task.projectID === null ? undefined : await projects.find(store.read, task.projectID);
  if (project?.archivedAt)
    throw conflict('PROJECT_ARCHIVED', `project “${project.name}” is archived`, { id: project.ID });
};

const given = (time: string | null | undefined, before: string | null | undefined): string | null => {
  if (time === undefined) return before ?? null;
  return time === null ? null : new Date(time).toISOString();
};

/** The updated schedule: omitted members stay. Throws with all issues. */
const mergedOf = (body: ScheduleBody, present: ScheduleOfTask | undefined, { userId }: Caller): StoredSchedule => {
  const changesKind = body.at !== undefined || body.cron !== undefined;
  const at = changesKind ? given(body.at, null) : (present?.at ?? null);
  const cron = changesKind ? (body.cron ?? null) : (present?.cron ?? null);
  const wanted: StoredSchedule = {
    taskID: body.id,
    kind: cron === null ? 'once' : 'cron',
    at,
    cron,
    timezone: body.timezone ?? present?.timezone ?? 'UTC',
    startsAt: given(body.startsAt, present?.startsAt),
    endsAt: given(body.endsAt, present?.endsAt),
    maxRuns: body.maxRuns === undefined ? (present?.maxRuns ?? null) : body.maxRuns,
    runsMade: changesKind ? 0 : (present?.runsMade ?? 0),
    misfire: body.misfire ?? present?.misfire ?? 'skip',
    onConflict: body.onConflict ?? present?.onConflict ?? 'queue',
    priority: body.priority ?? present?.priority ?? 5,
    nextRunAt: null,
    lastRunID: present?.lastRunID ?? null,
    issuerID: userId,
    definition: '',
    createdAt: '',
    updatedAt: '',
  };
  const issues = issuesOf(wanted, body);
  if (issues.length > 0) throw invalid(issues);
  const next = nextOccurrence(wanted, Date.now());
  return { ...wanted, nextRunAt: next === null ? null : new Date(next).toISOString() };
};

const issuesOf = (wanted: StoredSchedule, { at }: ScheduleBody): Issue[] => {
  const issues: Issue[] = [];
  const add = (path: string, code: string, message: string) => issues.push({ path, code, message });
  if ((wanted.at === null) === (wanted.cron === null)) add('/cron', 'KIND', 'give either `at` or `cron`');
  if (at !== undefined && Date.parse(at) <= Date.now()) add('/at', 'PAST', 'has passed');
  const problem = scheduleTimingProblem(wanted);
  if (problem) add(`/${problem.member}`, problem.member === 'cron' ? 'BAD_CRON' : 'BAD_TIMEZONE', problem.message);
  if (wanted.startsAt !== null && wanted.endsAt !== null && wanted.endsAt <= wanted.startsAt) {
    add('/endsAt', 'SPAN', 'must be after `startsAt`');
  }
  return issues;
};

const shownOf = (schedule: ScheduleOfTask): Omit<Schedule, 'upcoming' | 'conflicts'> => ({
  taskID: schedule.taskID,
  comment: schedule.comment,
  enabled: schedule.enabled,
  kind: schedule.cron === null ? 'once' : 'cron',
  at: schedule.at,
  cron: schedule.cron,
  timezone: schedule.timezone,
  startsAt: schedule.startsAt,
  endsAt: schedule.endsAt,
  maxRuns: schedule.maxRuns,
  nextRunAt: schedule.enabled ? schedule.nextRunAt : null,
  lastRunId: schedule.lastRunID,
  misfire: schedule.misfire as Schedule['misfire'],
  onConflict: schedule.onConflict as Schedule['onConflict'],
  priority: schedule.priority,
});
