import type { Executor } from '../../store/engine/database.ts';
import { agentsOfTasks, type ScheduleOfTask, type StoredSchedule, schedulesOf } from '../../store/runs/schedules.ts';
import type { Store } from '../../store/store.ts';
import { openTask } from '../../store/tasks/tasks.ts';
import { definitionOf } from '../lifecycle/run-definition.ts';
import type { Planner } from '../queue/planner.ts';
import { type AgentBooking, type Conflict, conflictsOf, unknownMs } from './conflicts.ts';
import { occurrencesBetween } from './occurrences.ts';

const maxOccurrences = 100;

interface Deps {
  store: Store;
  planner: Planner;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const createCalendarContext = (deps: Deps) => {
  /** Length of a run of the task, cached until the task changes. */
  const lengths = new Map<number, { updatedAt: string; lengthMs: number }>();
  return { ...deps, lengths };
};
type CalendarContext = ReturnType<typeof createCalendarContext>;

const lengthOf = async (
  { store, lengths, planner }: CalendarContext,
  read: Executor,
  taskId: number,
): Promise<number> => {
  const task = await openTask(read, store.secrets, taskId);
  if (task === undefined) return unknownMs;
  const known = lengths.get(taskId);
  if (known?.updatedAt === task.updatedAt) return known.lengthMs;
  const { plannedSec } = await planner.plan(definitionOf(task));
  const lengthMs = plannedSec === null ? unknownMs : plannedSec * 1000;
  lengths.set(taskId, { updatedAt: task.updatedAt, lengthMs });
  return lengthMs;
};

const occupationOf = async (
  context: CalendarContext,
  schedule: StoredSchedule,
  agentIds: readonly number[],
  { fromMs, toMs }: Span,
) => ({
  taskId: schedule.taskID,
  agentIds,
  starts: occurrencesBetween(schedule, fromMs, toMs, maxOccurrences),
  lengthMs: await lengthOf(context, context.store.read, schedule.taskID),
});

const occupations = async (
  context: CalendarContext,
  schedules: readonly ScheduleOfTask[],
  span: Span,
): Promise<AgentBooking[]> => {
  const { store } = context;
  const agents = await agentsOfTasks(
    store.read,
    schedules.map(({ taskID }) => taskID),
  );
  return Promise.all(
    schedules.map((schedule) => occupationOf(context, schedule, agents.get(schedule.taskID) ?? [], span)),
  );
};

/** Upcoming occurrences and the conflicts between schedules. */
export const createCalendar = (deps: Deps) => {
  const context = createCalendarContext(deps);
  const { store } = context;

  return {
    /** Each schedule with its occurrences in the span and its conflicts with other enabled schedules. */
    read: async (span: Span, taskId?: number) => {
      const schedules = await schedulesOf(store.read);
      const all = await occupations(context, schedules, span);
      const isEnabled = (_: AgentBooking, i: number) => schedules[i]?.enabled === true;
      return schedules.flatMap((schedule, i) => {
        const own = all[i] as AgentBooking;
        if (taskId !== undefined && taskId !== schedule.taskID) return [];
        const conflicts: Conflict[] = schedule.enabled ? conflictsOf(own, all.filter(isEnabled)) : [];
        return [{ schedule, upcoming: own.starts.map((at) => new Date(at).toISOString()), conflicts }];
      });
    },
    /** Agent bookings of enabled schedules in the span. */
    occupied: async (span: Span): Promise<AgentBooking[]> =>
      occupations(
        context,
        (await schedulesOf(store.read)).filter(({ enabled }) => enabled),
        span,
      ),
    /** Conflicts of a schedule that is not stored yet. */
    conflictsOf: async (draft: StoredSchedule, span: Span): Promise<Conflict[]> => {
      const others = (await schedulesOf(store.read)).filter(
        ({ taskID, enabled }) => enabled && taskID !== draft.taskID,
      );
      const agents = await agentsOfTasks(store.read, [draft.taskID]);
      const own = await occupationOf(context, draft, agents.get(draft.taskID) ?? [], span);
      return conflictsOf(own, await occupations(context, others, span));
    },
  };
};

export type Calendar = ReturnType<typeof createCalendar>;
