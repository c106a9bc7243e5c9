import { Type } from 'typebox';
import { createBody, patchBody } from '../../bodies.ts';
import { Data, ListQuery, Page } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id, NullableInteger, Timestamp } from '../../scalars.ts';
import { OneOf, optional, StrictObject } from '../../schema.ts';
import { secret } from '../../secret.ts';
import { Approval } from '../ai-gateway/approvals.ts';
import { FreeObject } from '../ai-gateway/operation.ts';
import { AiKey, AiKeyDraft } from './ai-key.ts';

const prefix = '/ai/admin';

const keyPatch = Type.Object({
  ...AiKeyDraft.properties,
  isActive: optional.flag('false: the key is refused until it is true again'),
  rotate: optional.flag('A new secret; the answer holds it'),
  graceSec: optional.integer([0, 86_400], 'How long the old secret still works', 0),
  revoked: optional.flag('true: refused for ever'),
});

/** AI keys, their activity, and decisions on their approval requests. */
export const aiAdmin = collection({
  tag: 'ai-admin',
  title: 'AI administration',
  routes: {
    keys: route(`GET ${prefix}/keys`, {
      summary: 'List AI keys',
      access: 'aiAdmin.read',
      query: Type.Object({
        ...Type.Omit(ListQuery(['id', 'name', 'expiresAt', 'lastUsedAt', 'createdAt'], {}), ['search']).properties,
        q: optional.text(200, 'Part of the name'),
        state: optional.oneOf(['active', 'disabled', 'revoked', 'expired']),
      }),
      reply: Page(AiKey),
    }),
    createKey: route(`POST ${prefix}/keys`, {
      summary: 'Create an AI key; the password must have been given within 15 minutes',
      access: 'aiAdmin.write',
      body: createBody(AiKeyDraft, AiKey),
      reply: Data(
        Type.Object({
          key: AiKey,
          secret: Type.String({ ...secret, description: 'The whole key. It is shown only here' }),
        }),
      ),
      errors: [409],
    }),
    updateKey: route(`PATCH ${prefix}/keys`, {
      summary: 'Change, disable, rotate or revoke an AI key',
      access: 'aiAdmin.write',
      body: patchBody(keyPatch, AiKey),
      reply: Type.Object({ data: Type.Optional(Type.Object({ secret: Type.String(secret) })) }),
      errors: [404, 409],
    }),
    activity: route(`GET ${prefix}/activity`, {
      summary: 'Approvals, or the audit of AI keys or users',
      access: 'aiAdmin.read',
      query: Type.Object({
        ...Type.Pick(ListQuery(['id'], {}), ['count', 'page', 'order']).properties,
        kind: OneOf(['approval', 'audit']),
        state: optional.text(32, 'State of approvals, outcome of audit rows'),
        by: optional.oneOf(['keys', 'users'], {
          description: 'Whose audit rows: of AI keys, or of users and the controller, which needs `users.read` too',
        }),
        keyId: Type.Optional(Id),
        userId: optional.described(Id, 'User of audit rows'),
        operation: optional.text(64, 'Operation of audit rows, such as `auth.login`'),
        risk: optional.oneOf(['R0', 'R1', 'RS', 'R2', 'R3']),
        from: Type.Optional(Timestamp),
        to: Type.Optional(Timestamp),
        verify: optional.flag('Also read the whole chain and check every hash'),
      }),
      reply: Type.Object({
        ...Page(FreeObject).properties,
        chain: Type.Optional(
          Type.Object({
            entries: Type.Integer(),
            isIntact: Type.Boolean(),
            brokenAt: NullableInteger,
            reason: Type.String(),
          }),
        ),
      }),
      errors: [403],
    }),
    decide: route(`PATCH ${prefix}/approvals`, {
      summary: 'Approve, reject or revoke what AI keys ask for',
      access: 'aiAdmin.decide',
      body: StrictObject({
        array: Type.Array(Id, { minItems: 1, maxItems: 20, uniqueItems: true, description: 'Ids of approvals' }),
        decision: OneOf(['approve', 'reject', 'revoke']),
        comment: optional.text(1024),
        digests: Type.Optional(
          Type.Record(Type.String(), Type.String({ maxLength: 80 }), {
            description: 'The digest you were shown, by approval id; needed to approve',
          }),
        ),
      }),
      reply: Data(Type.Array(Type.Pick(Approval, ['id', 'state', 'decisions']))),
      errors: [404, 409, 410],
    }),
  },
});
