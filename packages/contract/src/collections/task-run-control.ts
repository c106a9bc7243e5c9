import { type Static, Type } from 'typebox';
import { BulkResult, Data, IdParams, ManyIds, OneOf } from '../envelopes.ts';
import { route } from '../route.ts';
import { Id, Timestamp } from '../scalars.ts';
import { Dumps, Threshold } from './task-fields.ts';

const closed = { additionalProperties: false } as const;
const Reason = Type.Optional(Type.String({ maxLength: 1024 }));
const StopMode = Type.Optional(
  OneOf(['graceful', 'abort'], {
    default: 'graceful',
    description: 'graceful: ramp down and collect; abort: close everything at once',
  }),
);
const RunState = Data(Type.Object({ runId: Id, status: Type.Integer() }));

export const StartBody = Type.Object(
  {
    comment: Type.Optional(Type.String({ maxLength: 4096 })),
    at: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'Not before this time' })),
    thresholds: Type.Optional(
      Type.Array(Threshold, { maxItems: 200, description: 'For this run instead of the task’s' }),
    ),
    labels: Type.Optional(Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 256 }))),
    agentLossPolicy: Type.Optional(OneOf(['auto', 'fail', 'continue', 'stop'])),
    reason: Type.Optional(Type.String({ maxLength: 1024, description: 'Why; asked for by hazardous runs' })),
  },
  closed,
);
export type StartBody = Static<typeof StartBody>;

const positive = Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9 }));
export const LoadChange = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Place in `configuration`' }),
    requestsPerSecond: positive,
    packetsPerSecond: positive,
    sessionsPerSecond: positive,
    ppsPerConnection: positive,
    initialTps: positive,
  },
  closed,
);
export type LoadChange = Static<typeof LoadChange>;

/** Starting, stopping and steering. */
export const runControlRoutes = {
  start: route({
    method: 'POST',
    path: '/tasks/:id/start',
    summary: 'Start a new run',
    access: 'tasks.execute',
    params: IdParams,
    body: StartBody,
    bodyOptional: true,
    reply: Data(
      Type.Object({ runId: Id, status: Type.Integer(), queuePosition: Type.Optional(Type.Integer({ minimum: 1 })) }),
    ),
    errors: [404, 409],
  }),
  stop: route({
    method: 'POST',
    path: '/tasks/:id/stop',
    summary: 'End the run',
    access: 'tasks.execute',
    params: IdParams,
    body: Type.Object({ mode: StopMode, reason: Reason }, closed),
    bodyOptional: true,
    reply: RunState,
    errors: [404, 409],
  }),
  pause: route({
    method: 'POST',
    path: '/tasks/:id/pause',
    summary: 'Stop sending, keep sessions and counters',
    access: 'tasks.execute',
    params: IdParams,
    body: Type.Object({ reason: Reason }, closed),
    bodyOptional: true,
    reply: RunState,
    errors: [404, 409],
  }),
  resume: route({
    method: 'POST',
    path: '/tasks/:id/resume',
    summary: 'Go on after a pause',
    access: 'tasks.execute',
    params: IdParams,
    reply: RunState,
    errors: [404, 409],
  }),
  restart: route({
    method: 'POST',
    path: '/tasks/:id/restart',
    summary: 'Stop, then start the same definition as a new run',
    access: 'tasks.execute',
    params: IdParams,
    body: Type.Object({ mode: StopMode }, closed),
    bodyOptional: true,
    reply: Data(Type.Object({ runId: Id, previousRunId: Type.Unsafe<number | null>({ type: ['integer', 'null'] }) })),
    errors: [404, 409],
  }),
  actions: route({
    method: 'POST',
    path: '/tasks/actions',
    summary: 'Start, stop, abort, pause or resume several tasks',
    access: 'tasks.execute',
    body: Type.Object(
      { ...ManyIds.properties, action: OneOf(['start', 'stop', 'abort', 'pause', 'resume']), reason: Reason },
      closed,
    ),
    reply: BulkResult,
  }),
  changeLoad: route({
    method: 'PATCH',
    path: '/tasks/load',
    summary: 'Change the load or the capture while the task runs',
    access: 'tasks.execute',
    body: Type.Object(
      {
        id: Id,
        changes: Type.Optional(Type.Array(LoadChange, { maxItems: 1000 })),
        dumps: Type.Optional(Dumps),
      },
      closed,
    ),
    reply: Data(
      Type.Object({
        applied: Type.Array(Type.Integer({ description: 'Index' })),
        rejected: Type.Array(Type.Object({ index: Type.Integer(), reason: Type.String() })),
      }),
    ),
    errors: [404, 409],
  }),
};
