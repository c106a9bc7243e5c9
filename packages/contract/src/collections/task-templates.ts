import { type Static, Type } from 'typebox';
import { patchBody } from '../bodies.ts';
import { allRoute, crudRoutes } from '../crud.ts';
import { ListQuery, NewId, OneOf } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Description, Id, Name, Tags, Timestamp } from '../scalars.ts';
import { Issuer } from './users.ts';

const closed = { additionalProperties: false } as const;

export const TemplateParameter = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' }),
    type: OneOf(['integer', 'number', 'string', 'boolean']),
    default: Type.Optional(Type.Union([Type.Number(), Type.String({ maxLength: 4096 }), Type.Boolean()])),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    description: Type.Optional(Description),
  },
  closed,
);
export type TemplateParameter = Static<typeof TemplateParameter>;

export const TemplateSlot = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' }),
    role: OneOf(['client', 'server', 'any']),
    requires: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32, description: 'Names of plugins the agent must run' }),
    ),
  },
  closed,
);
export type TemplateSlot = Static<typeof TemplateSlot>;

export const TemplateDraft = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
  task: Type.Record(Type.String(), Type.Unknown(), {
    description: 'A task definition in which {"$slot":"name"} stands for an agent id and {"$param":"name"} for a value',
  }),
  parameters: Type.Optional(Type.Array(TemplateParameter, { maxItems: 100 })),
  slots: Type.Optional(Type.Array(TemplateSlot, { maxItems: 100 })),
});
export type TemplateDraft = Static<typeof TemplateDraft>;

export const TaskTemplate = Type.Object(
  {
    id: Id,
    name: Type.String(),
    description: Type.String(),
    tags: Type.String(),
    task: Type.Record(Type.String(), Type.Unknown()),
    parameters: Type.Array(TemplateParameter),
    slots: Type.Array(TemplateSlot),
    builtIn: Type.Boolean(),
    issuerID: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    issuer: Issuer,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'TaskTemplate' },
);
export type TaskTemplate = Static<typeof TaskTemplate>;

const crud = crudRoutes({
  path: '/task-templates',
  noun: 'task template',
  item: TaskTemplate,
  draft: TemplateDraft,
  query: ListQuery(['id', 'name', 'createdAt', 'updatedAt'], {
    tag: Type.Optional(Type.String({ maxLength: 64 })),
  }),
  read: 'taskTemplates.read',
  write: 'taskTemplates.write',
});

export const taskTemplates = collection({
  tag: 'task-templates',
  title: 'Task templates',
  routes: {
    ...crud,
    all: allRoute({ path: '/task-templates', noun: 'task template', item: TaskTemplate, read: 'taskTemplates.read' }),
    create: route({
      ...crud.create,
      summary: 'Create a template, or make one of a task with `sourceTaskID`',
      body: newTemplate(),
      reply: NewId,
      errors: [404, 409],
    }),
    update: route({ ...crud.update, body: patchBody(TemplateDraft, TaskTemplate) }),
  },
});

/** `task` may be left out when a task is named; its agents become slots. */
function newTemplate() {
  const body = crud.create.body as unknown as { properties: object };
  return Type.Unsafe<Omit<TemplateDraft, 'task'> & { task?: TemplateDraft['task']; sourceTaskID?: number }>({
    ...body,
    properties: { ...body.properties, sourceTaskID: Id },
    required: ['name'],
    anyOf: [{ required: ['task'] }, { required: ['sourceTaskID'] }],
  } as never);
}
