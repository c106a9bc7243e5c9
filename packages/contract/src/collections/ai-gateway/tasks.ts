import { Type } from 'typebox';
import { IdParams, ListQuery } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, Timestamp } from '../../scalars.ts';
import { optional } from '../../schema.ts';
import { AiOne, AiPage, aiOperation, FreeObject, path, view } from './operation.ts';

const prefix = '/ai/gateway/tasks';
const wait = {
  wait: optional.integer([0, 30], 'Seconds to wait for news before answering', 0),
};
const span = { from: Type.Optional(Timestamp), to: Type.Optional(Timestamp) };

/** Routes for AI models to read tasks, their status and results. */
export const aiTaskRoutes = {
  tasks: route(`GET ${prefix}`, {
    summary: 'List tasks',
    access: 'aiKey',
    ai: aiOperation('tasks_list', 'tasks:read', 'read'),
    query: Type.Object({
      ...Type.Omit(ListQuery(['id', 'status', 'createdAt', 'updatedAt', 'startedAt', 'finishedAt'], {}), ['search'])
        .properties,
      q: optional.text(200, 'Part of the comment'),
      status: optional.integer([0, 9], 'See capabilities'),
      projectID: Type.Optional(Id),
      agentID: Type.Optional(Id),
      ...span,
    }),
    reply: AiPage(FreeObject),
  }),
  task: route(`GET ${prefix}/:id`, {
    summary: 'Get a task with revision, digest and dependencies',
    access: 'aiKey',
    ai: aiOperation('task_get', 'tasks:read', 'read'),
    params: IdParams,
    query: Type.Object({ ...view, ...path }),
    reply: AiOne(Type.Unknown()),
    errors: [404],
  }),
  taskStatus: route(`GET ${prefix}/:id/status`, {
    summary: 'State, progress and live rates; waits for a change when asked',
    access: 'aiKey',
    ai: aiOperation('task_status', 'tasks:read', 'read'),
    params: IdParams,
    query: Type.Object({
      ...wait,
      since: optional.integer([0, Number.MAX_SAFE_INTEGER], 'The `revision` seen last'),
    }),
    reply: AiOne(FreeObject),
    errors: [404],
  }),
  taskResults: route(`GET ${prefix}/:id/results`, {
    summary: 'Summary and series of the last run, and how they differ from a baseline',
    access: 'aiKey',
    ai: aiOperation('task_results', 'results:read', 'read'),
    params: IdParams,
    query: Type.Object({
      series: optional.array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 10, description: 'Metrics' }),
      ...span,
      maxPoints: Type.Optional(Type.Integer({ minimum: 10, maximum: 500, default: 100 })),
      agg: optional.oneOf(['min', 'max', 'avg', 'p50', 'p90', 'p95', 'p99', 'p999', 'sum', 'rate', 'last']),
      baseline: optional.described(Id, 'Another task, whose last run is compared'),
    }),
    reply: AiOne(FreeObject),
    errors: [404],
  }),
  taskEvents: route(`GET ${prefix}/:id/events`, {
    summary: 'What happened in the last run',
    access: 'aiKey',
    ai: aiOperation('task_events', 'results:read', 'read'),
    params: IdParams,
    query: Type.Object({
      ...Type.Pick(ListQuery(['at'], {}), ['count', 'page', 'order']).properties,
      since: Type.Optional(Timestamp),
      level: optional.oneOf(['info', 'warning', 'error'], { description: 'And above' }),
    }),
    reply: AiPage(FreeObject),
    errors: [404],
  }),
  taskReport: route(`GET ${prefix}/:id/report`, {
    summary: 'Verdict, key figures and anomalies of the last run, in short',
    access: 'aiKey',
    ai: aiOperation('task_report', 'results:read', 'read'),
    params: IdParams,
    query: Type.Object({
      format: optional.oneOf(['json', 'markdown'], { default: 'json' }),
      maxChars: Type.Optional(Type.Integer({ minimum: 1000, maximum: 20_000, default: 6000 })),
    }),
    reply: AiOne(FreeObject),
    errors: [404, 409],
  }),
};
