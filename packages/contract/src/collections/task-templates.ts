import { type Static, Type } from 'typebox';
import { patchBody } from '../bodies.ts';
import { allRoute, crudRoutes } from '../crud.ts';
import { ListQuery, NewId } from '../envelopes.ts';
import { collection } from '../route.ts';
import { Description, Id, Name, Tags } from '../scalars.ts';
import { Component, OneOf, optional, StrictObject } from '../schema.ts';
import { authored } from './users.ts';

/** Records that a parameter can stand for. */
export const parameterReferences = [
  'network',
  'interface',
  'dictionary',
  'file',
  'application',
  'certificate',
  'campaign',
  'signature',
  'tunnel',
] as const;

export const TemplateParameter = StrictObject({
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' }),
  type: OneOf(['integer', 'number', 'string', 'boolean']),
  default: Type.Optional(Type.Union([Type.Number(), Type.String({ maxLength: 4096 }), Type.Boolean()])),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
  description: Type.Optional(Description),
  label: optional.text(64, 'Name in forms'),
  unit: optional.text(16, 'Unit in forms, such as s or bytes'),
  reference: optional.oneOf(parameterReferences, {
    description: 'The value is the id of such a record; an interface is one of the agent of the first slot',
  }),
  category: optional.text(64, 'Only files of this category, or dictionaries of this type'),
});
export type TemplateParameter = Static<typeof TemplateParameter>;

export const TemplateSlot = StrictObject({
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' }),
  role: OneOf(['client', 'server', 'any']),
  requires: optional.array(Type.String({ maxLength: 64 }), {
    maxItems: 32,
    description: 'Names of plugins the agent must run',
  }),
});
export type TemplateSlot = Static<typeof TemplateSlot>;

export const TemplateDraft = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
  task: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'A task definition, with `thresholds` if wanted, in which {"$slot":"name"} stands for an agent id and {"$param":"name"} for a value',
  }),
  parameters: optional.array(TemplateParameter, { maxItems: 100 }),
  slots: optional.array(TemplateSlot, { maxItems: 100 }),
});
export type TemplateDraft = Static<typeof TemplateDraft>;

export const TaskTemplate = Component('TaskTemplate', {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  tags: Type.String(),
  task: Type.Record(Type.String(), Type.Unknown()),
  parameters: Type.Array(TemplateParameter),
  slots: Type.Array(TemplateSlot),
  builtIn: Type.Boolean(),
  ...authored,
});
export type TaskTemplate = Static<typeof TaskTemplate>;

const crud = crudRoutes({
  path: '/task-templates',
  noun: 'task template',
  item: TaskTemplate,
  draft: TemplateDraft,
  query: ListQuery(['id', 'name', 'createdAt', 'updatedAt'], {
    tag: optional.text(64),
  }),
  permissions: 'taskTemplates',
});

export const taskTemplates = collection({
  tag: 'task-templates',
  title: 'Task templates',
  routes: {
    ...crud,
    all: allRoute({ path: '/task-templates', noun: 'task template', item: TaskTemplate, permissions: 'taskTemplates' }),
    create: {
      ...crud.create,
      summary: 'Create a template, or make one of a task with `sourceTaskID`',
      body: newTemplate(),
      reply: NewId,
      errors: [404, 409],
    },
    update: { ...crud.update, body: patchBody(TemplateDraft, TaskTemplate) },
  },
});

/** `task` is optional with `sourceTaskID`; agents of that task become slots. */
function newTemplate() {
  const body = crud.create.body as unknown as { properties: object };
  return Type.Unsafe<Omit<TemplateDraft, 'task'> & { task?: TemplateDraft['task']; sourceTaskID?: number }>({
    ...body,
    properties: { ...body.properties, sourceTaskID: Id },
    required: ['name'],
    anyOf: [{ required: ['task'] }, { required: ['sourceTaskID'] }],
  } as never);
}
