import { type Static, Type } from 'typebox';
import { Capture } from './dump.ts';
import { Job } from './job.ts';
import { Summary } from './summary.ts';

const closed = { additionalProperties: false } as const;

/** Every message about a run carries these two: what comes from an older epoch is dropped, what goes to it is refused. */
const ofRun = {
  runId: Type.Integer({ minimum: 1 }),
  epoch: Type.Integer({ minimum: 0 }),
};

/** A file a job needs; its bytes are asked for by hash, once. */
export const NeededFile = Type.Object(
  { sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), size: Type.Integer({ minimum: 0 }) },
  closed,
);
export type NeededFile = Static<typeof NeededFile>;

/** How one order of a run ended on the agent. */
export const JobOutcome = Type.Object(
  {
    status: Type.Union([Type.Literal('finished'), Type.Literal('stopped'), Type.Literal('failed')]),
    error: Type.String(),
    notes: Type.Array(Type.String(), { description: 'What the reader of the result must know.' }),
    saturatedSeconds: Type.Record(Type.String(), Type.Number(), {
      description: 'Seconds in which the generator itself was the limit, by reason.',
    }),
    lastSeq: Type.Integer({ minimum: 0, description: 'Of its last summary.' }),
  },
  closed,
);
export type JobOutcome = Static<typeof JobOutcome>;

export const LoadChange = Type.Object(
  {
    requestsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    packetsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    sessionsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  },
  closed,
);
export type LoadChange = Static<typeof LoadChange>;

/** Controller → agent: the life of a run. All are idempotent: a repeated one changes nothing. */
export const RunCommand = Type.Union([
  Type.Object(
    {
      type: Type.Literal('prepare'),
      ...ofRun,
      orders: Type.Array(Job, { description: 'Their place in this list is how later messages name them.' }),
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
    { type: Type.Literal('capture'), ...ofRun, capture: Type.Union([Capture, Type.Null()]) },
    { ...closed, description: 'From now on packets are captured so, or no longer.' },
  ),
  Type.Object(
    {
      type: Type.Literal('stop'),
      ...ofRun,
      mode: Type.Union([Type.Literal('graceful'), Type.Literal('abort')], {
        description: 'graceful: wind sessions down; abort: close everything at once.',
      }),
      orders: Type.Optional(
        Type.Array(Type.Integer({ minimum: 0 }), { description: 'Only these; all when left out.' }),
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
    { ...closed, description: 'The run is over or was given away: stop at once, forget it, send nothing more.' },
  ),
  Type.Object(
    {
      type: Type.Literal('acknowledge'),
      ...ofRun,
      order: Type.Integer({ minimum: 0 }),
      seq: Type.Integer({ minimum: 0, description: 'Everything up to it is on disk at the controller.' }),
    },
    closed,
  ),
  Type.Object(
    { type: Type.Literal('forget'), ...ofRun },
    { ...closed, description: 'All results have arrived: the agent may delete what it kept of the run.' },
  ),
]);
export type RunCommand = Static<typeof RunCommand>;

/** The state of a run as an agent holds it. */
export const HeldRunState = Type.Union([
  Type.Literal('preparing'),
  Type.Literal('prepared'),
  Type.Literal('armed'),
  Type.Literal('running'),
  Type.Literal('paused'),
  Type.Literal('ended'),
]);

/** Said when an agent connects, for each run it still knows. */
export const HeldRun = Type.Object(
  {
    ...ofRun,
    state: HeldRunState,
    orders: Type.Array(
      Type.Object({ lastSeq: Type.Integer({ minimum: 0 }), outcome: Type.Union([JobOutcome, Type.Null()]) }, closed),
    ),
    endedByDeadMan: Type.Boolean({ description: 'It stopped by itself because the controller was silent too long.' }),
  },
  closed,
);
export type HeldRun = Static<typeof HeldRun>;

/** Agent → controller: what becomes of a run. */
export const RunReport = Type.Union([
  Type.Object({ type: Type.Literal('prepared'), ...ofRun }, closed),
  Type.Object(
    {
      type: Type.Literal('prepareFailed'),
      ...ofRun,
      problems: Type.Array(Type.Object({ order: Type.Integer(), message: Type.String() }, closed)),
    },
    closed,
  ),
  Type.Object({ type: Type.Literal('started'), ...ofRun, at: Type.Number() }, closed),
  Type.Object(
    {
      type: Type.Literal('summaries'),
      ...ofRun,
      order: Type.Integer({ minimum: 0 }),
      summaries: Type.Array(Summary, { description: 'Oldest first; `at` is on the clock of the controller.' }),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('event'),
      ...ofRun,
      at: Type.Number(),
      kind: Type.String({ description: 'Such as `paused`, `resumed`, `loadChanged`, `linkDown`, `engineCrashed`.' }),
      severity: Type.Union([Type.Literal('info'), Type.Literal('warning'), Type.Literal('error')]),
      message: Type.String(),
      order: Type.Optional(Type.Integer({ minimum: 0 })),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('orderEnded'),
      ...ofRun,
      order: Type.Integer({ minimum: 0 }),
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
