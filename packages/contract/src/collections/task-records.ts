import { type Static, Type } from 'typebox';
import { createBody } from '../bodies.ts';
import { crudRoutes } from '../crud.ts';
import { BulkResult, Data, IdParams, ListQuery, ManyIds, NewId, OneOf, Page } from '../envelopes.ts';
import { route } from '../route.ts';
import { Id, Timestamp } from '../scalars.ts';
import { Task, TaskDraft, Threshold } from './task-fields.ts';
import { Plugin, PluginDetails, pluginKinds } from './task-plugins.ts';

const closed = { additionalProperties: false } as const;
const MaybeId = Type.Unsafe<number | null>({ type: ['integer', 'null'] });
const taskBodyLimit = 4 * 1024 * 1024;

const keys = ['id', 'comment', 'status', 'createdAt', 'startedAt', 'finishedAt', 'updatedAt', 'projectID'] as const;

const crud = crudRoutes({
  path: '/tasks',
  noun: 'task',
  item: Task,
  draft: TaskDraft,
  query: ListQuery(keys, {
    status: Type.Optional(Type.String({ pattern: '^[0-9](,[0-9]){0,9}$', description: 'Statuses, joined by commas' })),
    projectID: Type.Optional(Id),
    agentID: Type.Optional(Type.Integer({ ...Id, description: 'Tasks that name this agent' })),
    pluginID: Type.Optional(Type.Integer({ ...Id, description: 'Tasks that use this plugin, inside suites too' })),
    deleted: Type.Optional(OneOf(['no', 'only', 'all'], { default: 'no' })),
    full: Type.Optional(Type.Boolean({ description: 'With configuration, accessPlane and controlPlane' })),
  }),
  read: 'tasks.read',
  write: 'tasks.write',
});

export const ValidationIssue = Type.Object({
  severity: OneOf(['error', 'warning', 'info']),
  code: Type.String(),
  path: Type.String({ description: 'JSON pointer into the task' }),
  message: Type.String(),
  agentId: Type.Optional(Id),
});
export type ValidationIssue = Static<typeof ValidationIssue>;

export const Estimate = Type.Object({
  agents: Type.Integer(),
  clientIps: Type.Number(),
  connections: Type.Number(),
  pps: Type.Number(),
  bps: Type.Number(),
  durationSec: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
  dumpBytes: Type.Number(),
  attempts: Type.Integer({ description: 'Attacks and harmless requests of security tests' }),
});
export type Estimate = Static<typeof Estimate>;

const Validation = Type.Object(
  {
    valid: Type.Boolean(),
    issues: Type.Array(ValidationIssue),
    estimate: Estimate,
    conflicts: Type.Array(
      Type.Object({
        taskID: Id,
        agentID: Id,
        from: Timestamp,
        to: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      }),
    ),
  },
  { title: 'TaskValidation' },
);

const overrides = Type.Object(
  {
    comment: TaskDraft.properties.comment,
    accessPlane: TaskDraft.properties.accessPlane,
    controlPlane: TaskDraft.properties.controlPlane,
    configuration: Type.Optional(TaskDraft.properties.configuration),
    dumps: TaskDraft.properties.dumps,
  },
  closed,
);

/** Tasks as records, the plugins they are made of, and what they must hold. */
export const taskRecordRoutes = {
  list: crud.list,
  create: route({ ...crud.create, bodyLimit: taskBodyLimit, errors: [404, 409] }),
  update: route({ ...crud.update, bodyLimit: taskBodyLimit }),
  removeMany: route({
    ...crud.removeMany,
    summary: 'Delete tasks; they can be restored. Active ones only with `force`, which stops them',
    body: Type.Object({ ...ManyIds.properties, force: Type.Optional(Type.Boolean()) }, closed),
    reply: BulkResult,
    errors: [],
  }),
  get: crud.get,
  restore: route({
    method: 'PATCH',
    path: '/tasks/restore',
    summary: 'Undo the deletion of tasks',
    access: 'tasks.write',
    body: ManyIds,
    reply: BulkResult,
  }),
  move: route({
    method: 'PATCH',
    path: '/tasks/move',
    summary: 'Move tasks to a project, or out of any',
    access: 'tasks.write',
    body: Type.Object({ ...ManyIds.properties, projectID: MaybeId }, closed),
    reply: BulkResult,
    errors: [404, 409],
  }),
  clone: route({
    method: 'POST',
    path: '/tasks/:id/clone',
    summary: 'Copy the definition of a task',
    access: 'tasks.write',
    params: IdParams,
    body: Type.Object(
      {
        comment: Type.Optional(Type.String({ maxLength: 4096 })),
        projectID: Type.Optional(MaybeId),
        overrides: Type.Optional(overrides),
      },
      closed,
    ),
    bodyOptional: true,
    bodyLimit: taskBodyLimit,
    reply: NewId,
    errors: [404, 409],
  }),
  fromTemplate: route({
    method: 'POST',
    path: '/tasks/from-template',
    summary: 'Create a task from a template',
    access: 'tasks.write',
    body: Type.Object(
      {
        templateID: Id,
        comment: Type.Optional(Type.String({ maxLength: 4096 })),
        projectID: Type.Optional(MaybeId),
        agentMap: Type.Optional(Type.Record(Type.String({ maxLength: 64 }), Id, { description: 'Slot → agent' })),
        parameters: Type.Optional(
          Type.Record(Type.String({ maxLength: 64 }), Type.Union([Type.Number(), Type.String(), Type.Boolean()])),
        ),
      },
      closed,
    ),
    reply: NewId,
    errors: [404, 409],
  }),
  counters: route({
    method: 'GET',
    path: '/tasks/counters',
    summary: 'How many tasks are in which state',
    access: 'tasks.read',
    query: Type.Object({
      projectID: Type.Optional(Id),
      from: Type.Optional(
        Type.Unsafe<string>({ ...Timestamp, description: 'Last started, or if never created, at this time or later' }),
      ),
      to: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'The same, before this time' })),
    }),
    reply: Data(
      Type.Object({
        byStatus: Type.Record(Type.String(), Type.Integer()),
        byVerdict: Type.Record(Type.String(), Type.Integer()),
        active: Type.Integer(),
        error: Type.Integer(),
        scheduled: Type.Integer(),
      }),
    ),
  }),
  validate: route({
    method: 'POST',
    path: '/tasks/validate',
    summary: 'Check a task or a draft; `live` asks the agents too',
    access: 'tasks.read',
    query: Type.Object({ live: Type.Optional(Type.Boolean({ description: 'Dry run on the agents' })) }),
    body: Type.Union([Type.Object({ id: Id }, closed), createBody(TaskDraft, Task)], {
      description: 'A stored task by its id, or a draft',
    }),
    bodyLimit: taskBodyLimit,
    reply: Data(Validation),
    errors: [404],
  }),
  thresholds: route({
    method: 'GET',
    path: '/tasks/:id/thresholds',
    summary: 'What results of the task must hold',
    access: 'tasks.read',
    params: IdParams,
    reply: Data(Type.Array(Threshold)),
    errors: [404],
  }),
  setThresholds: route({
    method: 'PATCH',
    path: '/tasks/thresholds',
    summary: 'Say what results of the task must hold',
    access: 'tasks.write',
    body: Type.Object({ id: Id, thresholds: Type.Array(Threshold, { maxItems: 200 }) }, closed),
    reply: Data(Type.Array(Threshold)),
    errors: [404],
  }),
  plugins: route({
    method: 'GET',
    path: '/tasks/plugins',
    summary: 'Everything a task can be made of',
    access: 'tasks.read',
    query: Type.Object({ kind: Type.Optional(OneOf(pluginKinds)), agentID: Type.Optional(Id) }),
    reply: Page(Plugin),
    errors: [404],
  }),
  plugin: route({
    method: 'GET',
    path: '/tasks/plugins/:id',
    summary: 'A plugin with the schema of its values and its metrics',
    access: 'tasks.read',
    params: IdParams,
    query: Type.Object({ agentID: Type.Optional(Id) }),
    reply: Data(PluginDetails),
    errors: [404],
  }),
};
