import { type Static, Type } from 'typebox';
import { Data, IdParams, OneOf, Page } from '../envelopes.ts';
import { route } from '../route.ts';
import { Id, MaybeTimestamp, Timestamp } from '../scalars.ts';

const closed = { additionalProperties: false } as const;
const MaybeString = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const Conflict = Type.Object({ taskID: Id, agentID: Id, at: Timestamp });

export const Schedule = Type.Object(
  {
    taskID: Id,
    comment: Type.String({ description: 'Of the task' }),
    enabled: Type.Boolean(),
    kind: OneOf(['once', 'cron']),
    at: MaybeTimestamp,
    cron: MaybeString,
    timezone: Type.String(),
    startsAt: MaybeTimestamp,
    endsAt: MaybeTimestamp,
    maxRuns: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    nextRunAt: MaybeTimestamp,
    upcoming: Type.Array(Timestamp, { description: 'Occurrences between `from` and `to`, at most 100' }),
    lastRunId: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    misfire: OneOf(['skip', 'runOnce']),
    onConflict: OneOf(['queue', 'skip', 'fail']),
    priority: Type.Integer(),
    conflicts: Type.Array(Conflict),
  },
  { title: 'Schedule' },
);
export type Schedule = Static<typeof Schedule>;

export const ScheduleBody = Type.Object(
  {
    id: Type.Unsafe<number>({ ...Id, description: 'Of the task' }),
    enabled: Type.Optional(Type.Boolean({ description: 'True for a new schedule' })),
    at: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'Once, at this time' })),
    cron: Type.Optional(Type.String({ minLength: 9, maxLength: 128, description: 'Five or six fields' })),
    timezone: Type.Optional(
      Type.String({ maxLength: 64, description: 'Such as Europe/Berlin; UTC for a new schedule' }),
    ),
    startsAt: Type.Optional(MaybeTimestamp),
    endsAt: Type.Optional(MaybeTimestamp),
    maxRuns: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1 })),
    misfire: Type.Optional(
      OneOf(['skip', 'runOnce'], {
        description: 'What becomes of an occurrence nobody was there for; skip for a new schedule',
      }),
    ),
    onConflict: Type.Optional(
      OneOf(['queue', 'skip', 'fail'], {
        description: 'When the task or an agent is busy then; queue for a new schedule',
      }),
    ),
    priority: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 9, description: '9 goes first; 5 for a new schedule' }),
    ),
  },
  closed,
);
export type ScheduleBody = Static<typeof ScheduleBody>;

export const scheduleRoutes = {
  schedules: route({
    method: 'GET',
    path: '/tasks/schedules',
    summary: 'Schedules, what comes, and where they get into each other’s way',
    access: 'tasks.read',
    query: Type.Object({
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1 })),
      taskID: Type.Optional(Id),
      from: Type.Optional(Timestamp),
      to: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'At most 90 days after `from`' })),
    }),
    reply: Page(Schedule),
  }),
  schedule: route({
    method: 'PATCH',
    path: '/tasks/schedule',
    summary: 'Create or change the schedule of a task',
    access: 'tasks.execute',
    body: ScheduleBody,
    reply: Data(Type.Object({ nextRunAt: MaybeTimestamp, conflicts: Type.Array(Conflict) })),
    errors: [404, 409],
  }),
  unschedule: route({
    method: 'DELETE',
    path: '/tasks/:id/schedule',
    summary: 'Remove the schedule of a task',
    access: 'tasks.execute',
    params: IdParams,
    errors: [404],
  }),
};
