import { type Static, Type } from 'typebox';
import { amount, count, instant, long, ordinal, short } from '../bounds.ts';
import { PlaneCommand } from '../engines/hosts/plane.ts';
import { Capture } from './dump.ts';
import { Job } from './job.ts';
import { Summary } from './summary.ts';

const closed = { additionalProperties: false } as const;

/** Members of every message about a run. Messages from older epochs are dropped, messages to them refused. */
const ofRun = {
  runId: ordinal(),
  epoch: count(),
};

/** Jobs of one run on one agent. */
const maxJobs = 65_536;
const jobIndex = Type.Integer({ minimum: 0, maximum: maxJobs });

/** A file needed by a job; the agent requests it by hash, once. */
export const NeededFile = Type.Object(
  { sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), size: Type.Integer({ minimum: 0 }) },
  closed,
);
export type NeededFile = Static<typeof NeededFile>;

/** A load that stayed below its target. */
export const LoadShortfall = Type.Object(
  {
    wanted: Type.Number({ description: 'Events that were due.' }),
    begun: Type.Number(),
    limit: Type.Union([Type.Literal('processor'), Type.Literal('sockets'), Type.Literal('peer'), Type.Literal('path')]),
    evidence: Type.String({ description: 'How the limit is known.' }),
  },
  closed,
);
export type LoadShortfall = Static<typeof LoadShortfall>;

/** Outcome of one job of a run on the agent. */
export const JobOutcome = Type.Object(
  {
    status: Type.Union([Type.Literal('finished'), Type.Literal('stopped'), Type.Literal('failed')]),
    error: long(),
    notes: Type.Array(long(), { maxItems: 10_000, description: 'Remarks for the result.' }),
    saturatedSeconds: Type.Record(Type.String(), amount(), {
      maxProperties: 256,
      description: 'Seconds in which the generator was the bottleneck, by reason.',
    }),
    shortfall: Type.Optional(LoadShortfall),
    lastSeq: count({ description: 'Sequence number of the last summary.' }),
  },
  closed,
);
export type JobOutcome = Static<typeof JobOutcome>;

export const LoadChange = Type.Object(
  {
    requestsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    packetsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    sessionsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    concurrentSessions: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  },
  closed,
);
export type LoadChange = Static<typeof LoadChange>;

/** Controller → agent: lifecycle of a run. All commands are idempotent. */
export const RunCommand = Type.Union([
  Type.Object(
    {
      type: Type.Literal('prepare'),
      ...ofRun,
      orders: Type.Array(Job, { description: 'Later messages refer to jobs by index in this list.' }),
      files: Type.Array(NeededFile),
      capture: Type.Optional(Capture),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('start'),
      ...ofRun,
      at: Type.Number({ description: 'Common start T0, milliseconds since 1970 on the clock of the controller.' }),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('pause'), ...ofRun }, closed),
  Type.Object({ type: Type.Literal('resume'), ...ofRun }, closed),
  Type.Object(
    { type: Type.Literal('changeLoad'), ...ofRun, order: Type.Integer({ minimum: 0 }), change: LoadChange },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('command'),
      ...ofRun,
      order: Type.Integer({ minimum: 0 }),
      number: Type.Integer({ minimum: 1, description: 'Counts the commands of the job; a repeated one is ignored.' }),
      command: PlaneCommand,
    },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('capture'), ...ofRun, capture: Type.Union([Capture, Type.Null()]) },
    { ...closed, description: 'Starts, changes or (null) ends packet capture.' },
  ),
  Type.Object(
    {
      type: Type.Literal('stop'),
      ...ofRun,
      mode: Type.Union([Type.Literal('graceful'), Type.Literal('abort')], {
        description: 'graceful: let sessions finish; abort: close everything immediately.',
      }),
      orders: Type.Optional(
        Type.Array(Type.Integer({ minimum: 0 }), { description: 'Indexes of jobs; default: all.' }),
      ),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('abandon'),
      ...ofRun,
      reason: Type.String(),
    },
    { ...closed, description: 'The run is over or reassigned: stop immediately, delete it, send nothing more.' },
  ),
  Type.Object(
    {
      type: Type.Literal('acknowledge'),
      ...ofRun,
      order: Type.Integer({ minimum: 0 }),
      seq: Type.Integer({ minimum: 0, description: 'Everything up to this number is stored at the controller.' }),
    },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('forget'), ...ofRun },
    { ...closed, description: 'All results have arrived: the agent may delete its data of the run.' },
  ),
]);
export type RunCommand = Static<typeof RunCommand>;

/** State of a run on an agent. */
export const HeldRunState = Type.Union([
  Type.Literal('preparing'),
  Type.Literal('prepared'),
  Type.Literal('armed'),
  Type.Literal('running'),
  Type.Literal('paused'),
  Type.Literal('ended'),
]);

/** Sent when an agent connects, for each run it still holds. */
export const HeldRun = Type.Object(
  {
    ...ofRun,
    state: HeldRunState,
    orders: Type.Array(Type.Object({ lastSeq: count(), outcome: Type.Union([JobOutcome, Type.Null()]) }, closed), {
      maxItems: maxJobs,
    }),
    endedByDeadMan: Type.Boolean({
      description: 'The agent stopped the run because the controller was silent too long.',
    }),
  },
  closed,
);
export type HeldRun = Static<typeof HeldRun>;

/** Agent → controller: progress of a run. */
export const RunReport = Type.Union([
  Type.Object({ type: Type.Literal('prepared'), ...ofRun }, closed),
  Type.Object(
    {
      type: Type.Literal('prepareFailed'),
      ...ofRun,
      problems: Type.Array(
        Type.Object({ order: Type.Integer({ minimum: -1, maximum: maxJobs }), message: long() }, closed),
        { maxItems: 10_000 },
      ),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('started'), ...ofRun, at: instant() }, closed),
  Type.Object(
    {
      type: Type.Literal('summaries'),
      ...ofRun,
      order: jobIndex,
      summaries: Type.Array(Summary, { maxItems: 100_000, description: 'Oldest first; `at` is in controller time.' }),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('event'),
      ...ofRun,
      at: instant(),
      kind: short({ description: 'Such as `paused`, `resumed`, `loadChanged`, `linkDown`, `engineCrashed`.' }),
      severity: Type.Union([Type.Literal('info'), Type.Literal('warning'), Type.Literal('error')]),
      message: long(),
      order: Type.Optional(jobIndex),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('orderEnded'),
      ...ofRun,
      order: jobIndex,
      outcome: JobOutcome,
    },
    { ...closed, description: 'Sent after the last summary of the job.' },
  ),
  Type.Object(
    { type: Type.Literal('ended'), ...ofRun, endedByDeadMan: Type.Boolean() },
    { ...closed, description: 'All jobs have ended and everything was sent.' },
  ),
]);
export type RunReport = Static<typeof RunReport>;
