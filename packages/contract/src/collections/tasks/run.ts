import { type Static, Type } from 'typebox';
import { Id, NullableInteger, NullableNumber, NullableTimestamp, Timestamp } from '../../scalars.ts';
import { Component, Described, OneOf, optional } from '../../schema.ts';
import { rfc2544Tests } from '../../values/plugins/traffic/rfc2544.ts';
import { Issuer } from '../users.ts';
import { Threshold } from './task.ts';

const fps = (description: string) => Type.Number({ description: `${description}, frames a second` });
const microseconds = Type.Number({ description: 'Microseconds' });
const sentAndReceived = {
  offeredFps: fps('What was sent'),
  sent: Type.Integer(),
  received: Type.Integer(),
  lossPct: Type.Number({ description: 'Percent that did not arrive' }),
};

/** RFC 2544 results for one frame size. Tests that have not run are absent. */
export const Rfc2544Result = Component('Rfc2544Result', {
  configurationIndex: Type.Integer(),
  frameSize: Type.Integer({ description: 'Bytes with the check sequence' }),
  throughput: Type.Optional(
    Type.Object({
      fps: fps('The highest rate found without more loss than accepted; 0 when there was none'),
      bps: Type.Number({ description: 'Bits a second of frames with their check sequence' }),
      linePct: NullableNumber,
      trials: Type.Integer(),
      limit: OneOf(['path', 'line', 'ordered', 'generator', 'receiver'], {
        description:
          'What kept it from being higher. Unless it is `path`, the path may carry more: `line` and `ordered` were the highest that was to be tried, `generator` and `receiver` are the agents themselves',
      }),
    }),
  ),
  latency: Type.Optional(
    Type.Object({
      offeredFps: fps('At the throughput, or at the configured rate'),
      frames: Type.Integer(),
      minUs: microseconds,
      avgUs: microseconds,
      p50Us: microseconds,
      p99Us: microseconds,
      maxUs: microseconds,
    }),
  ),
  frameLoss: Type.Array(
    Type.Object({ ratePct: Type.Number({ description: 'Percent of the highest rate offered' }), ...sentAndReceived }),
  ),
  backToBack: Type.Optional(
    Type.Object({
      frames: Type.Number({ description: 'Longest burst without loss, averaged over the repeats' }),
      burstFps: fps('Rate within bursts'),
      repeats: Type.Integer(),
      isLongest: Type.Boolean({ description: 'Even the longest burst that was to be tried came through' }),
    }),
  ),
  trials: Type.Array(
    Type.Object({
      test: OneOf(rfc2544Tests),
      number: Type.Integer({ description: 'Counted over the whole run' }),
      ...sentAndReceived,
      drops: Type.Integer({ description: 'Frames that arrived and that the receiving agent was too slow for' }),
      passed: Type.Boolean(),
    }),
  ),
});
export type Rfc2544Result = Static<typeof Rfc2544Result>;

const GoalKpi = Component('GoalKpi', {
  name: Type.String({ description: 'What is measured, such as time to first byte' }),
  unit: Type.String(),
  min: NullableNumber,
  avg: NullableNumber,
  max: NullableNumber,
});
export type GoalKpi = Static<typeof GoalKpi>;

const GoalTrial = Component('GoalTrial', {
  number: Type.Integer({ description: 'From 1' }),
  load: Type.Number({ description: 'Offered load, in the unit of `metric`' }),
  reached: Type.Number({ description: 'Load that was begun, carried or kept open, in the unit of `metric`' }),
  isRepeat: Type.Boolean({ description: 'The best load so far, tried again' }),
  passed: Type.Boolean(),
  fromSec: Type.Number({ description: 'First second that was judged, from the start of the run' }),
  toSec: Type.Number(),
  bps: NullableNumber,
  limit: OneOf(['', 'path', 'generator'], { description: 'What kept a failed trial from passing' }),
  reason: Type.String({ description: 'What did not hold; empty when it passed' }),
  values: Type.Array(Type.Object({ metric: Type.String(), aggregation: Type.String(), actual: NullableNumber })),
  kpis: Type.Array(GoalKpi, { description: 'Key performance indicators, from the seconds that were judged' }),
});
export type GoalTrial = Static<typeof GoalTrial>;

export const GoalResult = Component('GoalResult', {
  configurationIndex: Type.Integer(),
  metric: Type.String({ description: 'The load that was searched' }),
  best: NullableNumber,
  bps: NullableNumber,
  target: Type.Number({ description: 'The highest load that was to be tried' }),
  rfc9411: Type.String({ description: 'Section of RFC 9411; empty for other searches' }),
  isDone: Type.Boolean(),
  isLowerBound: Type.Boolean({ description: 'The agents, or the highest load that was to be tried, were the limit' }),
  limit: OneOf(['', 'path', 'generator', 'max'], {
    description: 'What kept the result from being higher: the path with the device, the agents themselves, or `max`',
  }),
  trials: Type.Array(GoalTrial),
});
export type GoalResult = Static<typeof GoalResult>;

export const Rfc9411Result = Component('Rfc9411Result', {
  section: Type.String({ description: 'Section of the RFC' }),
  title: Type.String({ description: 'Name of the test' }),
  configurationIndex: Type.Integer(),
  objectBytes: Described(NullableInteger, 'Size of every object; null for a mix of sizes or of applications'),
  metric: Type.String({ description: 'The test objective: the load that was searched' }),
  initial: Described(NullableNumber, 'Load of the first trial'),
  target: Type.Number({ description: 'The highest load that was to be tried' }),
  result: Described(NullableNumber, 'The highest load at which everything held; null when there was none'),
  isDone: Type.Boolean({ description: 'The search has ended' }),
  isLowerBound: Type.Boolean({ description: 'The agents, or the target, were the limit' }),
  limit: GoalResult.properties.limit,
  sustainSec: Type.Number({ description: 'Length of the sustain phase, which is that of a trial' }),
  maxFailedPct: Described(NullableNumber, 'Transactions and connections that were allowed to fail'),
  initialKpis: Type.Array(GoalKpi, { description: 'Key performance indicators of the first trial' }),
  kpis: Type.Array(GoalKpi, { description: 'Key performance indicators at the result' }),
});
export type Rfc9411Result = Static<typeof Rfc9411Result>;

export const stopReasons = [
  '',
  'duration',
  'user',
  'ai',
  'schedule',
  'threshold',
  'agentLost',
  'prepareTimeout',
  'queueTimeout',
  'engineError',
  'controllerRestart',
  'deleted',
  'limit',
  'goal',
] as const;
export type StopReason = (typeof stopReasons)[number];

export const Validity = Component('Validity', {
  valid: Type.Boolean(),
  reasons: Type.Array(Type.String({ description: 'What a reader must know' })),
});

export const Run = Component('Run', {
  id: Id,
  taskID: Id,
  number: Type.Integer({ description: 'Counts the runs of the task from 1' }),
  status: Type.Integer({ description: 'As in Task' }),
  statusHistory: Type.Array(
    Type.Object({ status: Type.Integer(), at: Timestamp, by: Type.String({ description: 'Who or what' }) }),
  ),
  stopReason: OneOf(stopReasons),
  verdict: Type.Integer({ description: '0 none, 1 passed, 2 failed, 3 inconclusive' }),
  validity: Validity,
  health: OneOf(['ok', 'degraded', 'recovering']),
  comment: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  startedBy: Issuer,
  queuedAt: Timestamp,
  startedAt: NullableTimestamp,
  finishedAt: NullableTimestamp,
  durationSec: NullableNumber,
  agents: Type.Array(
    Type.Object({ id: Id, name: Type.String(), role: Type.String(), state: Type.String(), error: Type.String() }),
  ),
  definitionHash: Type.String(),
  pinned: Type.Boolean(),
  expiresAt: NullableTimestamp,
  error: Type.String(),
});
export type Run = Static<typeof Run>;

/** Aggregates of a metric over a run: counters have sum and rate, histograms the rest. Durations are in microseconds. */
export const MetricValue = Component('MetricValue', {
  metric: Type.String(),
  unit: Type.String(),
  type: OneOf(['counter', 'gauge', 'histogram']),
  sum: Type.Optional(NullableNumber),
  rate: Type.Optional(NullableNumber),
  count: Type.Optional(NullableNumber),
  min: Type.Optional(NullableNumber),
  max: Type.Optional(NullableNumber),
  avg: Type.Optional(NullableNumber),
  p50: Type.Optional(NullableNumber),
  p90: Type.Optional(NullableNumber),
  p95: Type.Optional(NullableNumber),
  p99: Type.Optional(NullableNumber),
  p999: Type.Optional(NullableNumber),
  last: Type.Optional(NullableNumber),
});
export type MetricValue = Static<typeof MetricValue>;

export const RunSummary = Type.Array(
  Type.Object({
    configurationIndex: Type.Integer(),
    pluginID: Type.Integer(),
    plugin: Type.String(),
    role: OneOf(['client', 'server']),
    window: OneOf(['steady', 'all'], { description: 'Values are of the steady part, or of all when there is none' }),
    seconds: Type.Number(),
    metrics: Type.Array(MetricValue),
  }),
  { description: 'By configuration entry and side' },
);
export type RunSummary = Static<typeof RunSummary>;

export const ThresholdResult = Component('ThresholdResult', {
  ...Threshold.properties,
  actual: NullableNumber,
  outcome: OneOf(['passed', 'failed', 'noData', 'pending']),
  breachedAt: NullableTimestamp,
});
export type ThresholdResult = Static<typeof ThresholdResult>;

/** Tables of a run beside its metrics. */
export const runTables = ['sessions', 'neighbours', 'routes', 'sas', 'tunnels', 'ports', 'flows', 'exchanges'] as const;
export type RunTable = (typeof runTables)[number];

export const RunResult = Component('RunResult', {
  ...Run.properties,
  configSnapshot: Type.Record(Type.String(), Type.Unknown(), { description: 'The task as it ran, secrets masked' }),
  summary: RunSummary,
  thresholds: Type.Array(ThresholdResult),
  rfc2544: optional.array(Rfc2544Result, { description: 'Of runs that made such trials, by size of frames' }),
  goals: optional.array(GoalResult, { description: 'Of runs that searched the highest load' }),
  rfc9411: optional.array(Rfc9411Result, {
    description: 'Of runs with tests of RFC 9411, in the order of its sections',
  }),
  tables: optional.array(
    Type.Object({
      name: OneOf(runTables),
      rows: Type.Integer(),
      states: Type.Record(Type.String(), Type.Integer(), { description: 'Number of rows by state' }),
    }),
    { description: 'Tables of the run; their rows are in `…/agents?table=NAME`' },
  ),
});
export type RunResult = Static<typeof RunResult>;

export const RunEvent = Component('RunEvent', {
  seq: Type.Integer(),
  ts: Timestamp,
  type: Type.String({ description: 'Such as status, loadChanged, agentLost, thresholdBreached' }),
  severity: OneOf(['info', 'warning', 'error']),
  agentID: NullableInteger,
  source: Type.String(),
  message: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
});
export type RunEvent = Static<typeof RunEvent>;

export const RunLogLine = Component('RunLogLine', {
  ts: Timestamp,
  level: OneOf(['debug', 'info', 'warn', 'error']),
  agentID: Id,
  source: Type.String(),
  message: Type.String(),
});

export const RunAgent = Component('RunAgent', {
  id: Id,
  name: Type.String(),
  role: Type.String(),
  state: Type.String(),
  engines: Type.Array(Type.String()),
  engineVersion: Type.String(),
  cpuMaxPct: NullableNumber,
  drops: NullableNumber,
  errors: Type.Number(),
  notes: Type.Array(Type.String()),
  saturatedSeconds: Type.Record(Type.String(), Type.Number()),
  metrics: Type.Array(MetricValue),
  error: Type.String(),
});
export type RunAgent = Static<typeof RunAgent>;

export const RunTableRow = Component('RunTableRow', {
  table: OneOf(runTables),
  agentID: Id,
  job: Type.Integer({ description: 'Index of the job on the agent' }),
  index: Type.Integer({ description: 'Identifies the row within its table and job' }),
  state: Type.String(),
  cells: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()])),
});
export type RunTableRow = Static<typeof RunTableRow>;

export const RunDump = Component('RunDump', {
  id: Id,
  agentID: Id,
  interface: Type.String(),
  direction: OneOf(['both', 'rx', 'tx']),
  size: Type.Integer(),
  packets: Type.Integer(),
  drops: Type.Integer({ description: 'Packets that the machine of the agent had no room for' }),
  truncated: Type.Boolean({ description: 'There was more than it holds' }),
  sha256: Type.String({ description: 'Empty while it is captured' }),
  firstAt: NullableTimestamp,
  lastAt: NullableTimestamp,
  ready: Type.Boolean({ description: 'It can be downloaded' }),
  problem: Type.String({ description: 'Why it is not whole, or will never be ready; empty when all is well' }),
});
export type RunDump = Static<typeof RunDump>;

/** Metric values of one second. `labels` name the agent, plugin or target. */
export const MetricSnapshot = Component('MetricSnapshot', {
  runId: Id,
  ts: NullableTimestamp,
  seq: Type.Integer({ description: 'Second since the start of the run' }),
  values: Type.Array(
    Type.Object({ labels: Type.Record(Type.String(), Type.String()), metrics: Type.Array(MetricValue) }),
  ),
});
export type MetricSnapshot = Static<typeof MetricSnapshot>;

export const MetricSeries = Component('MetricSeries', {
  step: Type.Number({ description: 'Seconds between points' }),
  t: Type.Array(Type.Number(), { description: 'Milliseconds since 1970, at most 2,000 points' }),
  series: Type.Array(
    Type.Object({
      metric: Type.String(),
      labels: Type.Record(Type.String(), Type.String()),
      values: Type.Array(NullableNumber),
    }),
  ),
});
export type MetricSeries = Static<typeof MetricSeries>;
