import { type Static, Type } from 'typebox';
import { BulkResult, Data, IdParams, ManyIds } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, NullableInteger, NullableNumber, Timestamp } from '../../scalars.ts';
import { Component, Described, OneOf, optional, StrictObject } from '../../schema.ts';
import { Dumps, TaskDraft, Threshold } from './task.ts';

const Reason = optional.text(1024);
const StopMode = optional.oneOf(['graceful', 'abort'], {
  default: 'graceful',
  description: 'graceful: ramp down and collect; abort: close everything at once',
});
const RunState = Data(Type.Object({ runId: Id, status: Type.Integer() }));

export const RunLabels = Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 256 }), {
  maxProperties: 64,
});

export const StartBody = StrictObject({
  comment: optional.text(4096),
  at: optional.described(Timestamp, 'Not before this time'),
  thresholds: optional.array(Threshold, { maxItems: 200, description: 'For this run instead of the task’s' }),
  labels: Type.Optional(RunLabels),
  agentLossPolicy: optional.oneOf(['auto', 'fail', 'continue', 'stop']),
  reason: optional.text(1024, 'Why; asked for by hazardous runs'),
});
export type StartBody = Static<typeof StartBody>;

const positive = optional.integer([1, 1e9]);
export const LoadChange = StrictObject({
  index: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Place in `configuration`' }),
  requestsPerSecond: positive,
  packetsPerSecond: positive,
  sessionsPerSecond: positive,
  ppsPerConnection: positive,
  initialTps: positive,
});
export type LoadChange = Static<typeof LoadChange>;

/** Actions on the emulated sessions, routers and links of a running task. */
export const planeActions = [
  'start',
  'stop',
  'restart',
  'join',
  'leave',
  'linkDown',
  'linkUp',
  'announce',
  'withdraw',
  'disconnect',
  'list',
] as const;

export const PlaneCommand = StrictObject({
  plane: OneOf(['access', 'control', 'configuration'], { description: 'Which list of the task the entry is in' }),
  index: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Place in `accessPlane`, `controlPlane` or `configuration`',
  }),
  action: OneOf(planeActions, {
    description: '`list` puts the routes, labels or database that emulated routers have now into `table=routes`',
  }),
  from: optional.integer([0, 1e9], 'First row of the table; the first when left out'),
  to: optional.integer([0, 1e9], 'Last row of the table; the last when left out'),
  values: optional.array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 10_000,
    description: 'Multicast groups, prefixes or interfaces; all when left out',
  }),
});
export type PlaneCommand = Static<typeof PlaneCommand>;

const position = (description: string) => Type.Integer({ minimum: 0, maximum: 1000, default: 0, description });

const TryBody = StrictObject({
  id: optional.described(Id, 'A stored task; members below replace its own'),
  accessPlane: TaskDraft.properties.accessPlane,
  controlPlane: TaskDraft.properties.controlPlane,
  configuration: Type.Optional(TaskDraft.properties.configuration),
  index: Type.Optional(position('Position of the entry in `configuration`')),
  journey: Type.Optional(position('Position of the journey in the entry')),
  step: optional.integer([0, 1000], 'Position of the last step to run; all steps when left out'),
  waitSec: optional.integer([1, 60], 'How long to wait for the agents and the answers; 30 when left out'),
});
export type TryBody = Static<typeof TryBody>;

const Variables = Type.Record(Type.String(), Type.String());

const TriedExchange = Component('TriedExchange', {
  step: Type.String(),
  state: OneOf(['ok', 'failed', 'noAnswer']),
  problem: Type.String({ description: 'Checks that did not hold, or why there is no answer' }),
  method: Type.String(),
  path: Type.String(),
  status: NullableInteger,
  timeMs: Described(NullableNumber, 'From the sending of the request to the end of its answer'),
  size: NullableInteger,
  variables: Type.Unsafe<Record<string, string>>({ ...Variables, description: 'Values when the request was sent' }),
  extracted: Type.Unsafe<Record<string, string>>({ ...Variables, description: 'Values taken from the answer' }),
  request: Type.String({ description: 'As it was written; long texts are cut' }),
  response: Type.String({ description: 'Status, headers and body' }),
});
export type TriedExchange = Static<typeof TriedExchange>;

/** Routes to start, stop and control runs. */
export const runControlRoutes = {
  start: route('POST /tasks/:id/start', {
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
  try: route('POST /tasks/try', {
    summary: 'Run a journey once between its agents, and show its requests, answers and variables; nothing is kept',
    access: 'tasks.execute',
    body: TryBody,
    bodyLimit: 4 * 1024 * 1024,
    reply: Data(
      Component('TriedJourney', {
        status: Type.Integer({ description: 'Of the run: 7 finished, 8 stopped, 9 failed' }),
        error: Type.String({ description: 'Why it failed, or did not end in time' }),
        exchanges: Type.Array(TriedExchange, { description: 'In the order in which they ended' }),
      }),
    ),
    errors: [404, 409],
  }),
  stop: route('POST /tasks/:id/stop', {
    summary: 'End the run',
    access: 'tasks.execute',
    params: IdParams,
    body: StrictObject({ mode: StopMode, reason: Reason }),
    bodyOptional: true,
    reply: RunState,
    errors: [404, 409],
  }),
  pause: route('POST /tasks/:id/pause', {
    summary: 'Stop sending, keep sessions and counters',
    access: 'tasks.execute',
    params: IdParams,
    body: StrictObject({ reason: Reason }),
    bodyOptional: true,
    reply: RunState,
    errors: [404, 409],
  }),
  resume: route('POST /tasks/:id/resume', {
    summary: 'Go on after a pause',
    access: 'tasks.execute',
    params: IdParams,
    reply: RunState,
    errors: [404, 409],
  }),
  restart: route('POST /tasks/:id/restart', {
    summary: 'Stop, then start the same definition as a new run',
    access: 'tasks.execute',
    params: IdParams,
    body: StrictObject({ mode: StopMode }),
    bodyOptional: true,
    reply: Data(Type.Object({ runId: Id, previousRunId: NullableInteger })),
    errors: [404, 409],
  }),
  actions: route('POST /tasks/actions', {
    summary: 'Start, stop, abort, pause or resume several tasks',
    access: 'tasks.execute',
    body: StrictObject({
      ...ManyIds.properties,
      action: OneOf(['start', 'stop', 'abort', 'pause', 'resume']),
      reason: Reason,
    }),
    reply: BulkResult,
  }),
  changeLoad: route('PATCH /tasks/load', {
    summary: 'Change the load or the capture while the task runs',
    access: 'tasks.execute',
    body: StrictObject({
      id: Id,
      changes: optional.array(LoadChange, { maxItems: 1000 }),
      commands: optional.array(PlaneCommand, {
        maxItems: 100,
        description: 'For emulated sessions, routers and links, in this order',
      }),
      dumps: Type.Optional(Dumps),
    }),
    reply: Data(
      Type.Object({
        applied: Type.Array(Type.Integer({ description: 'Index' })),
        rejected: Type.Array(Type.Object({ index: Type.Integer(), reason: Type.String() })),
        commands: Type.Array(
          Type.Object({
            agents: Type.Integer({ description: 'Agents that the command was given to' }),
            reason: Type.String({ description: 'Why it was rejected; empty when it was given' }),
          }),
          { description: 'For each command what became of it' },
        ),
      }),
    ),
    errors: [404, 409],
  }),
};
