import { type Static, Type } from 'typebox';
import { IdParams, ListQuery } from '../../envelopes.ts';
import { route } from '../../route.ts';
import { Id, NullableNumber, NullableTimestamp, Timestamp } from '../../scalars.ts';
import { Component, Nullable, OneOf, optional } from '../../schema.ts';
import { Threshold } from '../tasks/task.ts';
import { AiBody, AiOne, AiPage, aiOperation, FreeObject, IdempotencyKey } from './operation.ts';

const prefix = '/ai/gateway';
const Reason = Type.String({ minLength: 5, maxLength: 500, description: 'Why; people who approve read it' });
/** Of any shape: a text that is no token is as unknown as a token that was never given out. */
const ApprovalToken = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'As the request answered it, e.g. rh_aat_…',
});

export const approvalStates = ['pending', 'used', 'expired', 'revoked', 'rejected'] as const;
export type ApprovalState = (typeof approvalStates)[number];
export const aiActions = ['stop', 'pause', 'resume', 'restart', 'set-rate', 'delete'] as const;
export type AiAction = (typeof aiActions)[number];

export const ApprovalPlan = Component('ApprovalPlan', {
  summary: Type.String(),
  agents: Type.Array(FreeObject),
  targets: Type.Array(Type.String()),
  estimatedBps: NullableNumber,
  estimatedPps: NullableNumber,
  estimatedDurationSec: NullableNumber,
  conflicts: Type.Array(FreeObject),
  warnings: Type.Array(Type.String()),
});
export type ApprovalPlan = Static<typeof ApprovalPlan>;

export const Approval = Component('Approval', {
  id: Id,
  action: Type.String({ description: 'task.start, task.stop, …' }),
  taskIds: Type.Array(Id),
  params: FreeObject,
  risk: OneOf(['R1', 'RS', 'R2', 'R3']),
  policy: OneOf(['auto', 'same-key', 'human']),
  state: OneOf(approvalStates),
  stateReason: Nullable(Type.String()),
  requiredDecisions: Type.Integer(),
  decisions: Type.Array(
    Type.Object({
      userID: Id,
      decision: OneOf(['approve', 'reject']),
      comment: Type.String(),
      at: Timestamp,
    }),
  ),
  digest: Type.String(),
  plan: ApprovalPlan,
  reason: Type.String(),
  keyId: Id,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  usedAt: NullableTimestamp,
  result: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
  nextStep: optional.string({ description: 'What the key does next; in `approval_get`' }),
});
export type Approval = Static<typeof Approval>;

const Requested = AiOne(
  Type.Object({
    approval: Approval,
    approvalToken: optional.string({ description: 'Send it to the confirm operation' }),
    reviewUrl: optional.string({ description: 'Where a person decides: an address for their browser' }),
    nextStep: Type.String(),
    task: Type.Optional(FreeObject),
    results: optional.array(FreeObject),
  }),
);
const Confirm = AiBody({ approvalToken: ApprovalToken, idempotencyKey: IdempotencyKey });

/** Routes to start and control tasks: request first, then confirm. */
export const aiApprovalRoutes = {
  start: route(`POST ${prefix}/tasks/start`, {
    summary: 'Ask to start a task',
    access: 'aiKey',
    ai: aiOperation('task_start_request', 'tasks:start', 'traffic', 'byPlan'),
    body: AiBody({
      taskId: Id,
      expectedRevision: optional.integer([0, Number.MAX_SAFE_INTEGER]),
      reason: Reason,
      durationSec: optional.integer([1, 31_536_000], 'End it then'),
      thresholds: optional.array(Threshold, {
        maxItems: 100,
        description: 'What must hold, instead of those of the task',
      }),
      idempotencyKey: IdempotencyKey,
    }),
    reply: Requested,
    errors: [404, 409],
  }),
  confirmStart: route(`POST ${prefix}/tasks/start/confirm`, {
    summary: 'Start what was asked for',
    access: 'aiKey',
    ai: aiOperation('task_start_confirm', 'tasks:start', 'traffic', 'byPlan'),
    body: Confirm,
    reply: AiOne(Type.Object({ approval: Approval, task: FreeObject })),
    errors: [404, 409, 410],
  }),
  act: route(`POST ${prefix}/tasks/actions`, {
    summary: 'Ask to stop, pause, resume, restart, change the rate of or delete tasks',
    access: 'aiKey',
    ai: { ...aiOperation('task_action_request', 'tasks:control', 'traffic', 'byPlan'), orScope: 'tasks:delete' },
    body: AiBody({
      action: OneOf(aiActions),
      taskIds: Type.Array(Id, { minItems: 1, maxItems: 20, uniqueItems: true }),
      params: Type.Optional(FreeObject),
      reason: Reason,
      idempotencyKey: IdempotencyKey,
    }),
    reply: Requested,
    errors: [404, 409],
  }),
  confirmAct: route(`POST ${prefix}/tasks/actions/confirm`, {
    summary: 'Do what was asked for',
    access: 'aiKey',
    ai: { ...aiOperation('task_action_confirm', 'tasks:control', 'traffic', 'byPlan'), orScope: 'tasks:delete' },
    body: Confirm,
    reply: AiOne(Type.Object({ approval: Approval, results: Type.Array(FreeObject) })),
    errors: [404, 409, 410],
  }),
  approvals: route(`GET ${prefix}/approvals`, {
    summary: 'Approvals this key asked for',
    access: 'aiKey',
    ai: aiOperation('approvals_list', 'any', 'read'),
    query: Type.Object({
      ...Type.Omit(ListQuery(['id', 'createdAt', 'expiresAt'], {}), ['search']).properties,
      state: optional.oneOf(approvalStates),
    }),
    reply: AiPage(Approval),
  }),
  approval: route(`GET ${prefix}/approvals/:id`, {
    summary: 'Get an approval; waits for the decision when asked',
    access: 'aiKey',
    ai: aiOperation('approval_get', 'any', 'read'),
    params: IdParams,
    query: Type.Object({
      wait: optional.integer([0, 30], 'Seconds to wait for news', 0),
    }),
    reply: AiOne(Approval),
    errors: [404],
  }),
  cancelApproval: route(`POST ${prefix}/approvals/:id/cancel`, {
    summary: 'Withdraw a request',
    access: 'aiKey',
    ai: aiOperation('approval_cancel', 'any', 'adjust', 'R1'),
    params: IdParams,
    body: AiBody({ reason: optional.text(500), idempotencyKey: IdempotencyKey }),
    bodyOptional: true,
    reply: AiOne(Approval),
    errors: [404, 409],
  }),
};
