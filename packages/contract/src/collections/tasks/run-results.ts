import { Type } from 'typebox';
import { BulkResult, Data, IdParams, ListQuery, ManyIds, One, Page } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, NullableInteger, NullableNumber, Timestamp } from '../../scalars.ts';
import { Component, OneOf, optional } from '../../schema.ts';
import {
  MetricSeries,
  MetricSnapshot,
  Run,
  RunAgent,
  RunDump,
  RunEvent,
  RunLogLine,
  RunResult,
  RunTableRow,
  runTables,
} from './run.ts';

const RunParams = Type.Object({ id: Id, runId: Id });
const MetricNames = Type.String({
  minLength: 1,
  maxLength: 2000,
  pattern: '^[A-Za-z0-9_.-]+(,[A-Za-z0-9_.-]+)*$',
  description: 'Names of metrics, joined by commas',
});
const By = optional.oneOf(['total', 'plugin', 'agent', 'target'], { default: 'total' });
const paging = {
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1 })),
};
const aggregations = ['sum', 'rate', 'avg', 'min', 'max', 'count', 'last', 'p50', 'p90', 'p95', 'p99', 'p999'] as const;
const streamTypes = ['status', 'metrics', 'event', 'log', 'threshold', 'resync', 'end'] as const;
/** Routes to observe a run and read its results. */
export const runResultRoutes = {
  status: route('GET /tasks/:id/status', {
    summary: 'Where the task stands, small, for polling',
    access: 'tasks.read',
    params: IdParams,
    query: Type.Object({
      waitSec: optional.integer([0, 30], 'Wait so long for a change'),
      since: optional.integer([0, 9], 'The status you know'),
    }),
    reply: Data(
      Component('TaskStatus', {
        status: Type.Integer(),
        statusName: Type.String(),
        runId: NullableInteger,
        phase: OneOf(['', 'warmUp', 'rampUp', 'steady', 'rampDown', 'windDown']),
        progress: Type.Number({ minimum: 0, maximum: 1 }),
        elapsedSec: Type.Number(),
        remainingSec: NullableNumber,
        paused: Type.Boolean(),
        health: Type.String(),
        queuePosition: Type.Optional(Type.Integer()),
        agents: Type.Array(Type.Object({ id: Id, name: Type.String(), state: Type.String() })),
        stopReason: Type.String(),
        verdict: Type.Integer(),
        error: Type.String(),
      }),
    ),
    errors: [404],
  }),
  metrics: route('GET /tasks/:id/metrics', {
    summary: 'The latest second of the active or last run',
    access: 'tasks.read',
    params: IdParams,
    query: Type.Object({ metrics: Type.Optional(MetricNames), by: By }),
    reply: Data(MetricSnapshot),
    errors: [404, 409],
  }),
  stream: route('GET /tasks/:id/stream', {
    summary: 'States, metrics, events and logs as they happen; Last-Event-ID resumes',
    access: 'tasks.read',
    params: IdParams,
    query: Type.Object({
      types: optional.string({ maxLength: 200, pattern: `^(${streamTypes.join('|')})(,(${streamTypes.join('|')}))*$` }),
      metrics: Type.Optional(MetricNames),
      by: By,
      since: optional.string({ maxLength: 100, pattern: '^[0-9]+(-[0-9]+){3}$', description: 'As Last-Event-ID' }),
    }),
    events: Type.Object({ id: Type.Optional(Type.String()), event: OneOf(streamTypes), data: Type.Unknown() }),
    errors: [404],
  }),
  events: route('GET /tasks/:id/events', {
    summary: 'What happened in a run',
    access: 'tasks.read',
    params: IdParams,
    query: Type.Object({
      ...paging,
      runId: Type.Optional(Id),
      type: optional.text(64),
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      order: optional.oneOf(['asc', 'desc'], { default: 'asc' }),
    }),
    reply: Page(RunEvent),
    errors: [404],
  }),
  logs: route('GET /tasks/:id/logs', {
    summary: 'Log lines of a run',
    access: 'tasks.read',
    params: IdParams,
    query: Type.Object({
      ...paging,
      runId: Type.Optional(Id),
      agentID: Type.Optional(Id),
      level: optional.oneOf(['debug', 'info', 'warn', 'error'], { description: 'And above' }),
      search: optional.text(200),
    }),
    reply: Page(RunLogLine),
    errors: [404],
  }),
  runs: route('GET /tasks/:id/runs', {
    summary: 'The runs of a task',
    access: 'tasks.read',
    params: IdParams,
    query: ListQuery(['id', 'number', 'status', 'queuedAt', 'startedAt', 'finishedAt', 'verdict'], {
      verdict: optional.integer([0, 3]),
    }),
    reply: Page(Run),
    errors: [404],
  }),
  removeRuns: route('DELETE /tasks/:id/runs', {
    summary: 'Delete results',
    access: 'tasks.deleteResults',
    params: IdParams,
    body: ManyIds,
    reply: BulkResult,
    errors: [404, 409],
  }),
  run: route('GET /tasks/:id/runs/:runId', {
    summary: 'A run with its summary, thresholds and validity',
    access: 'tasks.read',
    params: RunParams,
    query: Type.Object({ full: optional.flag('With every metric, not the main ones') }),
    reply: One(RunResult),
    errors: [404],
  }),
  series: route('GET /tasks/:id/runs/:runId/series', {
    summary: 'Time series of metrics',
    access: 'tasks.read',
    params: RunParams,
    query: Type.Object({
      metrics: MetricNames,
      by: By,
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      step: optional.integer([1, 86_400], 'Seconds; made larger for 2,000 points'),
      agg: optional.oneOf(aggregations, {
        description: 'rate for counters, avg for gauges, p99 for histograms unless said',
      }),
      bands: optional.flag(
        'Histograms as a heat map: a line of counts for each half octave of values, with the labels `from` and `to`; at most 300 points',
      ),
    }),
    reply: Data(MetricSeries),
    errors: [404],
  }),
  runAgents: route('GET /tasks/:id/runs/:runId/agents', {
    summary: 'What each agent contributed, or with `table` the rows of a table of the run',
    access: 'tasks.read',
    params: RunParams,
    query: Type.Object({
      ...paging,
      table: optional.oneOf(runTables, { description: 'Rows of this table instead of the agents' }),
      agentID: optional.described(Id, 'Only rows of this agent'),
      state: optional.text(256, 'Only rows in this state'),
      search: optional.text(200, 'Only rows whose cells contain this'),
      router: optional.text(64, 'Only rows with this router, such as the routes of one neighbour'),
      neighbour: optional.text(64, 'Only rows with this neighbour'),
      protocol: optional.text(64, 'Only rows with this protocol'),
    }),
    reply: Page(Type.Union([RunAgent, RunTableRow])),
    errors: [404],
  }),
  dumps: route('GET /tasks/:id/runs/:runId/dumps', {
    summary: 'Packet dumps of a run',
    access: 'tasks.dumps',
    params: RunParams,
    reply: Page(RunDump),
    errors: [404],
  }),
  dump: route('GET /tasks/:id/runs/:runId/dumps/:dumpId', {
    summary: 'Download a packet dump',
    access: 'tasks.dumps',
    params: Type.Object({ ...RunParams.properties, dumpId: Id }),
    query: Type.Object({
      filter: optional.text(1024, 'Only these packets: `tcp`, `udp`, `host ADDRESS`, `port NUMBER`, joined by `and`'),
      keys: optional.oneOf(['ike', 'esp', 'tls'], {
        description:
          'Instead of packets the keys of the agent, as Wireshark reads them: `ikev2_decryption_table`, `esp_sa`, or the key log of TLS and QUIC; needs `certificates.private` and is audited',
      }),
    }),
    download: ['application/x-pcapng', 'text/plain'],
    errors: [403, 404, 409, 413],
  }),
  report: route('GET /tasks/:id/runs/:runId/report', {
    summary: 'The report of a run',
    access: 'tasks.read',
    params: RunParams,
    query: Type.Object({
      format: optional.oneOf(['html', 'pdf', 'csv', 'json', 'junit'], { default: 'html' }),
      sections: optional.text(
        200,
        'Of the HTML report, joined by commas; of the CSV report, the name of a table of the run',
      ),
      lang: optional.oneOf(['en']),
    }),
    download: ['text/html', 'application/pdf', 'text/csv', 'application/json', 'application/xml'],
    errors: [404, 409],
  }),
  compare: route('GET /tasks/runs/compare', {
    summary: 'Compare two runs',
    access: 'tasks.read',
    query: Type.Object({
      base: Id,
      target: Id,
      metrics: Type.Optional(MetricNames),
      tolerancePct: Type.Optional(Type.Number({ minimum: 0, maximum: 1000, default: 5 })),
    }),
    reply: Data(
      Component('RunComparison', {
        base: Run,
        target: Run,
        configDiff: Type.Array(Type.Object({ path: Type.String(), base: Type.Unknown(), target: Type.Unknown() })),
        metrics: Type.Array(
          Type.Object({
            metric: Type.String(),
            unit: Type.String(),
            base: NullableNumber,
            target: NullableNumber,
            delta: NullableNumber,
            deltaPct: NullableNumber,
            better: OneOf(['higher', 'lower', 'none']),
            significant: Type.Boolean({ description: 'Beyond the tolerance' }),
          }),
        ),
        verdict: OneOf(['better', 'worse', 'same', 'mixed', 'incomparable']),
      }),
    ),
    errors: [404],
  }),
};
