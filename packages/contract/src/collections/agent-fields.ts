import { type Static, Type } from 'typebox';
import { OneOf } from '../envelopes.ts';
import { Description, Id, MaybeTimestamp, Name, Tags, Timestamp } from '../scalars.ts';
import { Issuer, LightUser } from './users.ts';

const Status = Type.Integer({
  minimum: 0,
  maximum: 7,
  description:
    '0 enrolled and never seen, 1 online, 2 busy, 3 suspect (a heartbeat is late), 4 offline, 5 blocked, 6 upgrading, 7 incompatible version',
});

/** What can be changed of an agent; everything else it tells itself. */
export const AgentDraft = Type.Object({
  name: Name,
  comment: Type.Optional(Description),
  tags: Type.Optional(Tags),
  maxConcurrentTasks: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, default: 0, description: 'Runs it takes part in at once; 0: no limit' }),
  ),
  maxBps: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'Bits a second that tasks may ask of it; 0: no limit',
    }),
  ),
});

export const AgentInterface = Type.Object(
  {
    id: Type.Integer({ description: 'Stays the same when the agent restarts' }),
    name: Type.String(),
    mac: Type.String(),
    mtu: Type.Integer(),
    speedMbps: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'null: unknown' }),
    link: OneOf(['up', 'down', 'unknown']),
    ips: Type.Array(Type.String(), { description: 'Addresses with prefix length' }),
    driver: Type.String(),
    role: OneOf(['mgmt', 'test'], { description: 'mgmt: the one that reaches the controller' }),
    usable: Type.Boolean(),
    reason: Type.String({ description: 'Why it is not usable' }),
  },
  { title: 'AgentInterface' },
);

const Reservation = Type.Object(
  {
    userID: Id,
    user: LightUser,
    reason: Type.String(),
    until: Timestamp,
    taskID: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: 'The task that runs on it now, if any',
    }),
  },
  { title: 'AgentReservation' },
);
export type AgentReservation = Static<typeof Reservation>;

export const Agent = Type.Object(
  {
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
    interfaces: Type.Optional(Type.Array(AgentInterface, { description: 'Only in `GET /agents/{id}`' })),
    reservation: Type.Unsafe<AgentReservation | null>({
      ...Reservation,
      type: ['object', 'null'],
      description: 'null: nobody has reserved it, or the time is over',
    }),
    activeTaskIDs: Type.Array(Id, { description: 'Tasks with a run under way that uses it' }),
    enrolledAt: Timestamp,
    lastSeenAt: MaybeTimestamp,
    issuerID: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: 'Who made the enrolment token' }),
    issuer: Issuer,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    deletedAt: MaybeTimestamp,
  },
  { title: 'Agent' },
);
export type Agent = Static<typeof Agent>;

export const AgentSummary = Type.Object(
  { id: Id, name: Type.String(), status: Status, tags: Type.String(), cpuCores: Type.Integer() },
  { title: 'AgentSummary' },
);
