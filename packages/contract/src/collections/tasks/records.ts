import { type Static, type TObject, Type } from 'typebox';
import { createBody } from '../../bodies.ts';
import { crudRoutes } from '../../crud.ts';
import { BulkResult, Data, IdParams, ListQuery, ManyIds, NewId, Page } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, NullableInteger, NullableNumber, NullableTimestamp, Timestamp } from '../../scalars.ts';
import { Component, Nullable, OneOf, optional, StrictObject } from '../../schema.ts';
import { Plugin, PluginDetails, pluginKinds } from './plugins.ts';
import { Run, RunSummary } from './run.ts';
import { RunLabels } from './run-control.ts';
import { Device, Task, TaskDraft, Threshold } from './task.ts';

const taskBodyLimit = 4 * 1024 * 1024;

const keys = ['id', 'comment', 'status', 'createdAt', 'startedAt', 'finishedAt', 'updatedAt', 'projectID'] as const;

const crud = crudRoutes({
  path: '/tasks',
  noun: 'task',
  item: Task,
  draft: TaskDraft,
  query: ListQuery(keys, {
    status: optional.string({ pattern: '^[0-9](,[0-9]){0,9}$', description: 'Statuses, joined by commas' }),
    projectID: Type.Optional(Id),
    agentID: Type.Optional(Type.Integer({ ...Id, description: 'Tasks that name this agent' })),
    pluginID: Type.Optional(Type.Integer({ ...Id, description: 'Tasks that use this plugin, inside suites too' })),
    device: optional.text(128, 'Tasks whose device under test has this name'),
    deleted: optional.oneOf(['no', 'only', 'all'], { default: 'no' }),
    full: optional.flag('With configuration, accessPlane and controlPlane'),
  }),
  permissions: 'tasks',
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
  durationSec: NullableNumber,
  dumpBytes: Type.Number(),
  attempts: Type.Integer({ description: 'Attacks and harmless requests of security tests' }),
});
export type Estimate = Static<typeof Estimate>;

const Validation = Component('TaskValidation', {
  valid: Type.Boolean(),
  issues: Type.Array(ValidationIssue),
  estimate: Estimate,
  conflicts: Type.Array(
    Type.Object({
      taskID: Id,
      agentID: Id,
      from: Timestamp,
      to: Nullable(Type.String()),
    }),
  ),
});

const overrides = StrictObject({
  comment: TaskDraft.properties.comment,
  accessPlane: TaskDraft.properties.accessPlane,
  controlPlane: TaskDraft.properties.controlPlane,
  configuration: Type.Optional(TaskDraft.properties.configuration),
  dumps: TaskDraft.properties.dumps,
});

export const RunChange = StrictObject({
  id: Id,
  comment: optional.text(4096),
  labels: Type.Optional(RunLabels),
  pinned: optional.flag('Kept whatever the retention says, and the baseline of later runs'),
});
export type RunChange = Static<typeof RunChange>;

function taskPatch() {
  const { body } = crud.update;
  const { properties } = body as unknown as TObject;
  return Type.Unsafe<Static<typeof body> & { runs?: RunChange[] }>({
    ...body,
    properties: {
      ...properties,
      runs: optional.array(RunChange, { maxItems: 100, description: 'Runs of the task; what you leave out stays' }),
    },
  });
}

const DeviceUse = Component('DeviceUse', {
  name: Type.String(),
  vendor: Type.String(),
  model: Type.String(),
  version: Type.String(),
  runs: Type.Integer({ description: 'Runs with this device in this version' }),
  lastRunAt: NullableTimestamp,
});
export type DeviceUse = Static<typeof DeviceUse>;

/** A run of any task with its main metrics. */
const DeviceRun = Component('DeviceRun', {
  ...Type.Pick(Run, ['id', 'taskID', 'number', 'status', 'verdict', 'labels', 'finishedAt']).properties,
  task: Type.String({ description: 'Name of the task' }),
  summary: RunSummary,
});
export type DeviceRun = Static<typeof DeviceRun>;

/** Routes of task records, plugins and thresholds. */
export const taskRecordRoutes = {
  list: crud.list,
  create: { ...crud.create, bodyLimit: taskBodyLimit, errors: [404, 409] },
  update: {
    ...crud.update,
    summary: 'Update a task; `runs` changes notes, labels and pins of its runs',
    body: taskPatch(),
    bodyLimit: taskBodyLimit,
  },
  removeMany: {
    ...crud.removeMany,
    summary: 'Delete tasks; they can be restored. Active ones only with `force`, which stops them',
    body: StrictObject({ ...ManyIds.properties, force: optional.flag() }),
    reply: BulkResult,
    errors: [],
  },
  get: crud.get,
  restore: route('PATCH /tasks/restore', {
    summary: 'Undo the deletion of tasks',
    access: 'tasks.write',
    body: ManyIds,
    reply: BulkResult,
  }),
  move: route('PATCH /tasks/move', {
    summary: 'Move tasks to a project, or out of any',
    access: 'tasks.write',
    body: StrictObject({ ...ManyIds.properties, projectID: NullableInteger }),
    reply: BulkResult,
    errors: [404, 409],
  }),
  clone: route('POST /tasks/:id/clone', {
    summary: 'Copy the definition of a task',
    access: 'tasks.write',
    params: IdParams,
    body: StrictObject({
      comment: optional.text(4096),
      projectID: Type.Optional(NullableInteger),
      overrides: Type.Optional(overrides),
    }),
    bodyOptional: true,
    bodyLimit: taskBodyLimit,
    reply: NewId,
    errors: [404, 409],
  }),
  fromTemplate: route('POST /tasks/from-template', {
    summary: 'Create a task from a template',
    access: 'tasks.write',
    body: StrictObject({
      templateID: Id,
      comment: optional.text(4096),
      projectID: Type.Optional(NullableInteger),
      device: Type.Optional(Device),
      agentMap: Type.Optional(Type.Record(Type.String({ maxLength: 64 }), Id, { description: 'Slot → agent' })),
      parameters: Type.Optional(
        Type.Record(Type.String({ maxLength: 64 }), Type.Union([Type.Number(), Type.String(), Type.Boolean()])),
      ),
    }),
    reply: NewId,
    errors: [404, 409],
  }),
  counters: route('GET /tasks/counters', {
    summary: 'How many tasks are in which state',
    access: 'tasks.read',
    query: Type.Object({
      projectID: Type.Optional(Id),
      from: optional.described(Timestamp, 'Last started, or if never created, at this time or later'),
      to: optional.described(Timestamp, 'The same, before this time'),
      devices: optional.flag('With the devices under test'),
      device: optional.text(128, 'With the newest 100 finished runs of the device of this name'),
    }),
    reply: Data(
      Type.Object({
        byStatus: Type.Record(Type.String(), Type.Integer()),
        byVerdict: Type.Record(Type.String(), Type.Integer()),
        active: Type.Integer(),
        error: Type.Integer(),
        scheduled: Type.Integer(),
        devices: optional.array(DeviceUse, { description: 'With `devices`: each device in each version' }),
        deviceRuns: optional.array(DeviceRun, { description: 'With `device`: newest first' }),
      }),
    ),
  }),
  validate: route('POST /tasks/validate', {
    summary: 'Check a task or a draft; `live` asks the agents too',
    access: 'tasks.read',
    query: Type.Object({ live: optional.flag('Dry run on the agents') }),
    body: Type.Union([StrictObject({ id: Id }), createBody(TaskDraft, Task)], {
      description: 'A stored task by its id, or a draft',
    }),
    bodyLimit: taskBodyLimit,
    reply: Data(Validation),
    errors: [404],
  }),
  thresholds: route('GET /tasks/:id/thresholds', {
    summary: 'What results of the task must hold',
    access: 'tasks.read',
    params: IdParams,
    reply: Data(Type.Array(Threshold)),
    errors: [404],
  }),
  setThresholds: route('PATCH /tasks/thresholds', {
    summary: 'Say what results of the task must hold',
    access: 'tasks.write',
    body: StrictObject({ id: Id, thresholds: Type.Array(Threshold, { maxItems: 200 }) }),
    reply: Data(Type.Array(Threshold)),
    errors: [404],
  }),
  plugins: route('GET /tasks/plugins', {
    summary: 'Everything a task can be made of',
    access: 'tasks.read',
    query: Type.Object({ kind: optional.oneOf(pluginKinds), agentID: Type.Optional(Id) }),
    reply: Page(Plugin),
    errors: [404],
  }),
  plugin: route('GET /tasks/plugins/:id', {
    summary: 'A plugin with the schema of its values and its metrics',
    access: 'tasks.read',
    params: IdParams,
    query: Type.Object({ agentID: Type.Optional(Id) }),
    reply: Data(PluginDetails),
    errors: [404],
  }),
};
