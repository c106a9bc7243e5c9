import { Type } from 'typebox';
import { BulkResult, Data, IdParams, ListQuery, ManyIds, One, OneOf, Page } from '../envelopes.ts';
import { route } from '../route.ts';
import { Id, Timestamp } from '../scalars.ts';
import { MetricSeries, MetricSnapshot, Run, RunAgent, RunDump, RunEvent, RunLogLine, RunResult } from './run-fields.ts';

const RunParams = Type.Object({ id: Id, runId: Id });
const MetricNames = Type.String({
  minLength: 1,
  maxLength: 2000,
  pattern: '^[A-Za-z0-9_.-]+(,[A-Za-z0-9_.-]+)*$',
  description: 'Names of metrics, joined by commas',
});
const By = Type.Optional(OneOf(['total', 'plugin', 'agent', 'target'], { default: 'total' }));
const paging = {
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9, default: 1 })),
};
const aggregations = ['sum', 'rate', 'avg', 'min', 'max', 'count', 'last', 'p50', 'p90', 'p95', 'p99', 'p999'] as const;
const streamTypes = ['status', 'metrics', 'event', 'log', 'threshold', 'resync', 'end'] as const;
const get = <const Path extends string>(path: Path, summary: string) =>
  ({ method: 'GET', path: `/tasks/${path}`, summary, access: 'tasks.read' }) as const;

/** Watching a run and reading what it showed. */
export const runResultRoutes = {
  status: route({
    ...get(':id/status', 'Where the task stands, small, for polling'),
    params: IdParams,
    query: Type.Object({
      waitSec: Type.Optional(Type.Integer({ minimum: 0, maximum: 30, description: 'Wait so long for a change' })),
      since: Type.Optional(Type.Integer({ minimum: 0, maximum: 9, description: 'The status you know' })),
    }),
    reply: Data(
      Type.Object(
        {
          status: Type.Integer(),
          statusName: Type.String(),
          runId: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
          phase: OneOf(['', 'warmUp', 'rampUp', 'steady', 'rampDown', 'windDown']),
          progress: Type.Number({ minimum: 0, maximum: 1 }),
          elapsedSec: Type.Number(),
          remainingSec: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
          paused: Type.Boolean(),
          health: Type.String(),
          queuePosition: Type.Optional(Type.Integer()),
          agents: Type.Array(Type.Object({ id: Id, name: Type.String(), state: Type.String() })),
          stopReason: Type.String(),
          verdict: Type.Integer(),
          error: Type.String(),
        },
        { title: 'TaskStatus' },
      ),
    ),
    errors: [404],
  }),
  metrics: route({
    ...get(':id/metrics', 'The latest second of the active or last run'),
    params: IdParams,
    query: Type.Object({ metrics: Type.Optional(MetricNames), by: By }),
    reply: Data(MetricSnapshot),
    errors: [404, 409],
  }),
  stream: route({
    ...get(':id/stream', 'States, metrics, events and logs as they happen; Last-Event-ID resumes'),
    params: IdParams,
    query: Type.Object({
      types: Type.Optional(
        Type.String({ maxLength: 200, pattern: `^(${streamTypes.join('|')})(,(${streamTypes.join('|')}))*$` }),
      ),
      metrics: Type.Optional(MetricNames),
      by: By,
      since: Type.Optional(
        Type.String({ maxLength: 100, pattern: '^[0-9]+(-[0-9]+){3}$', description: 'As Last-Event-ID' }),
      ),
    }),
    events: Type.Object({ id: Type.Optional(Type.String()), event: OneOf(streamTypes), data: Type.Unknown() }),
    errors: [404],
  }),
  events: route({
    ...get(':id/events', 'What happened in a run'),
    params: IdParams,
    query: Type.Object({
      ...paging,
      runId: Type.Optional(Id),
      type: Type.Optional(Type.String({ maxLength: 64 })),
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      order: Type.Optional(OneOf(['asc', 'desc'], { default: 'asc' })),
    }),
    reply: Page(RunEvent),
    errors: [404],
  }),
  logs: route({
    ...get(':id/logs', 'Log lines of a run'),
    params: IdParams,
    query: Type.Object({
      ...paging,
      runId: Type.Optional(Id),
      agentID: Type.Optional(Id),
      level: Type.Optional(OneOf(['debug', 'info', 'warn', 'error'], { description: 'And above' })),
      search: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    reply: Page(RunLogLine),
    errors: [404],
  }),
  runs: route({
    ...get(':id/runs', 'The runs of a task'),
    params: IdParams,
    query: ListQuery(['id', 'number', 'status', 'queuedAt', 'startedAt', 'finishedAt', 'verdict'], {
      verdict: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
    }),
    reply: Page(Run),
    errors: [404],
  }),
  removeRuns: route({
    method: 'DELETE',
    path: '/tasks/:id/runs',
    summary: 'Delete results',
    access: 'tasks.deleteResults',
    params: IdParams,
    body: ManyIds,
    reply: BulkResult,
    errors: [404, 409],
  }),
  run: route({
    ...get(':id/runs/:runId', 'A run with its summary, thresholds and validity'),
    params: RunParams,
    query: Type.Object({ full: Type.Optional(Type.Boolean({ description: 'With every metric, not the main ones' })) }),
    reply: One(RunResult),
    errors: [404],
  }),
  series: route({
    ...get(':id/runs/:runId/series', 'Time series of metrics'),
    params: RunParams,
    query: Type.Object({
      metrics: MetricNames,
      by: By,
      from: Type.Optional(Timestamp),
      to: Type.Optional(Timestamp),
      step: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 86_400, description: 'Seconds; made larger for 2,000 points' }),
      ),
      agg: Type.Optional(
        OneOf(aggregations, { description: 'rate for counters, avg for gauges, p99 for histograms unless said' }),
      ),
    }),
    reply: Data(MetricSeries),
    errors: [404],
  }),
  runAgents: route({
    ...get(':id/runs/:runId/agents', 'What each agent contributed'),
    params: RunParams,
    query: Type.Object(paging),
    reply: Page(RunAgent),
    errors: [404],
  }),
  dumps: route({
    ...get(':id/runs/:runId/dumps', 'Packet dumps of a run'),
    access: 'tasks.dumps',
    params: RunParams,
    reply: Page(RunDump),
    errors: [404],
  }),
  dump: route({
    ...get(':id/runs/:runId/dumps/:dumpId', 'Download a packet dump'),
    access: 'tasks.dumps',
    params: Type.Object({ ...RunParams.properties, dumpId: Id }),
    query: Type.Object({
      filter: Type.Optional(
        Type.String({
          maxLength: 1024,
          description: 'Only these packets: `tcp`, `udp`, `host ADDRESS`, `port NUMBER`, joined by `and`',
        }),
      ),
    }),
    download: ['application/x-pcapng'],
    errors: [404, 409, 413],
  }),
  report: route({
    ...get(':id/runs/:runId/report', 'The report of a run'),
    params: RunParams,
    query: Type.Object({
      format: Type.Optional(OneOf(['html', 'pdf', 'csv', 'json', 'junit'], { default: 'html' })),
      sections: Type.Optional(Type.String({ maxLength: 200, description: 'Of the HTML report, joined by commas' })),
      lang: Type.Optional(OneOf(['en'])),
    }),
    download: ['text/html', 'application/pdf', 'text/csv', 'application/json', 'application/xml'],
    errors: [404, 409],
  }),
  compare: route({
    ...get('runs/compare', 'Compare two runs'),
    query: Type.Object({
      base: Id,
      target: Id,
      metrics: Type.Optional(MetricNames),
      tolerancePct: Type.Optional(Type.Number({ minimum: 0, maximum: 1000, default: 5 })),
    }),
    reply: Data(
      Type.Object(
        {
          base: Run,
          target: Run,
          configDiff: Type.Array(Type.Object({ path: Type.String(), base: Type.Unknown(), target: Type.Unknown() })),
          metrics: Type.Array(
            Type.Object({
              metric: Type.String(),
              unit: Type.String(),
              base: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
              target: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
              delta: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
              deltaPct: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
              better: OneOf(['higher', 'lower', 'none']),
              significant: Type.Boolean({ description: 'Beyond the tolerance' }),
            }),
          ),
          verdict: OneOf(['better', 'worse', 'same', 'mixed', 'incomparable']),
        },
        { title: 'RunComparison' },
      ),
    ),
    errors: [404],
  }),
};
