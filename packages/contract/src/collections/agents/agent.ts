import { type Static, Type } from 'typebox';
import { Description, Id, Name, NullableTimestamp, Tags, Timestamp } from '../../scalars.ts';
import { Component, Nullable, OneOf, optional } from '../../schema.ts';
import { Issuer, LightUser } from '../users.ts';

const Status = Type.Integer({
  minimum: 0,
  maximum: 7,
  description:
    '0 enrolled and never seen, 1 online, 2 busy, 3 suspect (a heartbeat is late), 4 offline, 5 blocked, 6 upgrading, 7 incompatible version',
});

/** The editable members of an agent; it reports all others itself. */
export const AgentDraft = Type.Object({
  name: Name,
  comment: Type.Optional(Description),
  tags: Type.Optional(Tags),
  maxConcurrentTasks: optional.integer([0, 1000], 'Runs it takes part in at once; 0: no limit', 0),
  maxBps: optional.integer([0, Number.MAX_SAFE_INTEGER], 'Bits a second that tasks may ask of it; 0: no limit', 0),
});

export const AgentInterface = Component('AgentInterface', {
  id: Type.Integer({ description: 'Stays the same when the agent restarts' }),
  name: Type.String(),
  mac: Type.String(),
  mtu: Type.Integer(),
  speedMbps: Nullable(Type.Integer({ description: 'null: unknown' })),
  link: OneOf(['up', 'down', 'unknown']),
  ips: Type.Array(Type.String(), { description: 'Addresses with prefix length' }),
  driver: Type.String(),
  role: OneOf(['mgmt', 'test'], { description: 'mgmt: the one that reaches the controller' }),
  usable: Type.Boolean(),
  reason: Type.String({ description: 'Why it is not usable' }),
});

const Reservation = Component('AgentReservation', {
  userID: Id,
  user: LightUser,
  reason: Type.String(),
  until: Timestamp,
  taskID: Nullable(Type.Integer({ description: 'The task that runs on it now, if any' })),
});
export type AgentReservation = Static<typeof Reservation>;

export const Agent = Component('Agent', {
  id: Id,
  uuid: Type.String({ description: 'Chosen by the agent when it enrolled' }),
  name: Type.String(),
  hostname: Type.String(),
  version: Type.String(),
  status: Status,
  isBlocked: Type.Boolean(),
  tags: Type.String(),
  comment: Type.String(),
  addresses: Type.Array(Type.String()),
  os: Type.String(),
  kernel: Type.String(),
  arch: Type.String(),
  cpuCores: Type.Integer(),
  memoryMb: Type.Integer(),
  clockOffsetMs: Type.Number({ description: 'Clock of the controller minus clock of the agent, as last measured' }),
  roundTripMs: Type.Number({ description: 'Of the last heartbeat' }),
  maxConcurrentTasks: Type.Integer(),
  maxBps: Type.Integer(),
  interfaces: optional.array(AgentInterface, { description: 'Only in `GET /agents/{id}`' }),
  reservation: Type.Unsafe<AgentReservation | null>({
    ...Reservation,
    type: ['object', 'null'],
    description: 'null: nobody has reserved it, or the time is over',
  }),
  activeTaskIDs: Type.Array(Id, { description: 'Tasks with a run under way that uses it' }),
  enrolledAt: Timestamp,
  lastSeenAt: NullableTimestamp,
  issuerID: Nullable(Type.Integer({ description: 'Who made the enrolment token' })),
  issuer: Issuer,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  deletedAt: NullableTimestamp,
});
export type Agent = Static<typeof Agent>;

export const AgentSummary = Component('AgentSummary', {
  id: Id,
  name: Type.String(),
  status: Status,
  tags: Type.String(),
  cpuCores: Type.Integer(),
});
