import { type Static, Type } from 'typebox';
import { Data, IdParams, Page } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, NullableInteger, NullableTimestamp, Timestamp } from '../../scalars.ts';
import { Component, Described, Nullable, OneOf, optional, StrictObject } from '../../schema.ts';

const MaybeString = Nullable(Type.String());
const Conflict = Type.Object({ taskID: Id, agentID: Id, at: Timestamp });

export const Schedule = Component('Schedule', {
  taskID: Id,
  comment: Type.String({ description: 'Of the task' }),
  enabled: Type.Boolean(),
  kind: OneOf(['once', 'cron']),
  at: NullableTimestamp,
  cron: MaybeString,
  timezone: Type.String(),
  startsAt: NullableTimestamp,
  endsAt: NullableTimestamp,
  maxRuns: NullableInteger,
  nextRunAt: NullableTimestamp,
  upcoming: Type.Array(Timestamp, { description: 'Occurrences between `from` and `to`, at most 100' }),
  lastRunId: NullableInteger,
  misfire: OneOf(['skip', 'runOnce']),
  onConflict: OneOf(['queue', 'skip', 'fail']),
  priority: Type.Integer(),
  conflicts: Type.Array(Conflict),
});
export type Schedule = Static<typeof Schedule>;

export const ScheduleBody = StrictObject({
  id: Described(Id, 'Of the task'),
  enabled: optional.flag('True for a new schedule'),
  at: optional.described(Timestamp, 'Once, at this time'),
  cron: optional.string({ minLength: 9, maxLength: 128, description: 'Five or six fields' }),
  timezone: optional.text(64, 'Such as Europe/Berlin; UTC for a new schedule'),
  startsAt: Type.Optional(NullableTimestamp),
  endsAt: Type.Optional(NullableTimestamp),
  maxRuns: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))),
  misfire: optional.oneOf(['skip', 'runOnce'], {
    description: 'What happens if a run was missed; skip for a new schedule',
  }),
  onConflict: optional.oneOf(['queue', 'skip', 'fail'], {
    description: 'When the task or an agent is busy then; queue for a new schedule',
  }),
  priority: optional.integer([0, 9], '9 goes first; 5 for a new schedule'),
});
export type ScheduleBody = Static<typeof ScheduleBody>;

export const scheduleRoutes = {
  schedules: route('GET /tasks/schedules', {
    summary: 'Schedules, what comes, and where they get into each other’s way',
    access: 'tasks.read',
    query: Type.Object({
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1 })),
      taskID: Type.Optional(Id),
      from: Type.Optional(Timestamp),
      to: optional.described(Timestamp, 'At most 90 days after `from`'),
    }),
    reply: Page(Schedule),
  }),
  schedule: route('PATCH /tasks/schedule', {
    summary: 'Create or change the schedule of a task',
    access: 'tasks.execute',
    body: ScheduleBody,
    reply: Data(Type.Object({ nextRunAt: NullableTimestamp, conflicts: Type.Array(Conflict) })),
    errors: [404, 409],
  }),
  unschedule: route('DELETE /tasks/:id/schedule', {
    summary: 'Remove the schedule of a task',
    access: 'tasks.execute',
    params: IdParams,
    errors: [404],
  }),
};
