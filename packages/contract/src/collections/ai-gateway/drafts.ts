import { type Static, Type } from 'typebox';
import { IdParams, ListQuery } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, Timestamp } from '../../scalars.ts';
import { Component, OneOf, optional, StrictObject, strict } from '../../schema.ts';
import { AiBody, AiOne, AiPage, aiOperation, FreeObject, IdempotencyKey, path } from './operation.ts';

const prefix = '/ai/gateway';
const Revision = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The one you read' });
const TaskText = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description:
    'A task; see the schema `task`. Plugins may be named (`plugin: "http"`), and `thresholds` are part of it',
});

export const AiProblem = Component('AIProblem', {
  path: Type.String(),
  code: Type.String(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
});

export const AiDraft = Component('AIDraft', {
  id: Id,
  name: Type.String(),
  revision: Type.Integer(),
  task: Type.Unknown({ description: 'Redacted; the part asked for with `path`' }),
  problems: Type.Array(AiProblem),
  expiresAt: Timestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  truncated: optional.flag(),
});
export type AiDraft = Static<typeof AiDraft>;

const JsonPatchOp = StrictObject({
  op: OneOf(['add', 'remove', 'replace', 'move', 'copy', 'test']),
  path: Type.String({ maxLength: 512 }),
  from: optional.text(512),
  value: Type.Optional(Type.Unknown()),
});

/** Routes of task drafts, which are stored apart from tasks. */
export const aiDraftRoutes = {
  createDraft: route(`POST ${prefix}/drafts`, {
    summary: 'Begin a draft from a task, a template, a draft or nothing',
    access: 'aiKey',
    ai: aiOperation('draft_create', 'drafts:write', 'add', 'R1'),
    body: AiBody({
      name: optional.text(128),
      from: Type.Optional(
        Type.Object(
          { taskId: Type.Optional(Id), templateId: Type.Optional(Id), draftId: Type.Optional(Id) },
          { ...strict, minProperties: 1, maxProperties: 1 },
        ),
      ),
      agentMap: Type.Optional(
        Type.Record(Type.String({ maxLength: 64 }), Id, { description: 'Agents for the slots of the template' }),
      ),
      parameters: Type.Optional(
        Type.Record(
          Type.String({ maxLength: 64 }),
          Type.Union([Type.Number(), Type.String({ maxLength: 4096 }), Type.Boolean()]),
          {
            description: 'Values for the parameters of the template',
          },
        ),
      ),
      task: Type.Optional(TaskText),
      idempotencyKey: IdempotencyKey,
    }),
    reply: AiOne(AiDraft),
    errors: [404, 409],
  }),
  drafts: route(`GET ${prefix}/drafts`, {
    summary: 'Drafts of this key',
    access: 'aiKey',
    ai: aiOperation('drafts_list', 'drafts:write', 'read'),
    query: Type.Object(Type.Omit(ListQuery(['id', 'name', 'updatedAt'], {}), ['search']).properties),
    reply: AiPage(Type.Omit(AiDraft, ['task', 'problems'])),
  }),
  draft: route(`GET ${prefix}/drafts/:id`, {
    summary: 'Get a draft',
    access: 'aiKey',
    ai: aiOperation('draft_get', 'drafts:write', 'read'),
    params: IdParams,
    query: Type.Object(path),
    reply: AiOne(AiDraft),
    errors: [404],
  }),
  updateDraft: route(`PATCH ${prefix}/drafts/:id`, {
    summary:
      'Change a draft by a merge patch, in which entries of the configuration are merged by their position, or by JSON Patch operations',
    access: 'aiKey',
    ai: aiOperation('draft_update', 'drafts:write', 'adjust', 'R1'),
    params: IdParams,
    body: AiBody({
      revision: Revision,
      merge: Type.Optional(TaskText),
      ops: optional.array(JsonPatchOp, { minItems: 1, maxItems: 200 }),
      idempotencyKey: IdempotencyKey,
    }),
    reply: AiOne(AiDraft),
    errors: [404, 409],
  }),
  removeDraft: route(`DELETE ${prefix}/drafts/:id`, {
    summary: 'Delete a draft',
    access: 'aiKey',
    ai: aiOperation('draft_delete', 'drafts:write', 'destroy', 'R1'),
    params: IdParams,
    reply: AiOne(Type.Object({ deleted: Type.Boolean() })),
    errors: [404],
  }),
  validateTask: route(`POST ${prefix}/tasks/validate`, {
    summary: 'Everything wrong with a task, what it would do, its risk and who would have to confirm',
    access: 'aiKey',
    ai: aiOperation('task_validate', 'drafts:write', 'read'),
    body: AiBody({ draftId: Type.Optional(Id), taskId: Type.Optional(Id), task: Type.Optional(TaskText) }),
    reply: AiOne(
      Type.Object({
        valid: Type.Boolean(),
        errors: Type.Array(AiProblem),
        warnings: Type.Array(AiProblem),
        effectiveTask: Type.Unknown(),
        plan: FreeObject,
        risk: Type.String(),
        policyForThisKey: Type.String(),
        digest: Type.String(),
        truncated: optional.flag(),
      }),
    ),
    errors: [404],
  }),
  createTask: route(`POST ${prefix}/tasks`, {
    summary: 'Store a task; it is not started',
    access: 'aiKey',
    ai: aiOperation('task_create', 'tasks:create', 'add', 'R1'),
    body: AiBody({
      draftId: Type.Optional(Id),
      revision: Type.Optional(Revision),
      task: Type.Optional(TaskText),
      idempotencyKey: IdempotencyKey,
    }),
    reply: AiOne(Type.Object({ id: Id, revision: Type.Integer(), digest: Type.String(), status: Type.Integer() })),
    errors: [404, 409],
  }),
};
