import { Type } from 'typebox';
import { createBody, patchBody } from '../bodies.ts';
import { Data, ListQuery, OneOf, Page } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id, Timestamp } from '../scalars.ts';
import { secret } from '../secret.ts';
import { Approval } from './ai-gateway-approvals.ts';
import { FreeObject } from './ai-gateway-operation.ts';
import { AiKey, AiKeyDraft } from './ai-key-fields.ts';

const prefix = '/ai/admin';

const keyPatch = Type.Object({
  ...AiKeyDraft.properties,
  isActive: Type.Optional(Type.Boolean({ description: 'false: the key is refused until it is true again' })),
  rotate: Type.Optional(Type.Boolean({ description: 'A new secret; the answer holds it' })),
  graceSec: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 86_400, default: 0, description: 'How long the old secret still works' }),
  ),
  revoked: Type.Optional(Type.Boolean({ description: 'true: refused for ever' })),
});

/** Keys of the AI gateway, what was done with them, and decisions about what they ask for. */
export const aiAdmin = collection({
  tag: 'ai-admin',
  title: 'AI administration',
  routes: {
    keys: route({
      method: 'GET',
      path: `${prefix}/keys`,
      summary: 'List AI keys',
      access: 'aiAdmin.read',
      query: Type.Object({
        ...Type.Omit(ListQuery(['id', 'name', 'expiresAt', 'lastUsedAt', 'createdAt'], {}), ['search']).properties,
        q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name' })),
        state: Type.Optional(OneOf(['active', 'disabled', 'revoked', 'expired'])),
      }),
      reply: Page(AiKey),
    }),
    createKey: route({
      method: 'POST',
      path: `${prefix}/keys`,
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
    updateKey: route({
      method: 'PATCH',
      path: `${prefix}/keys`,
      summary: 'Change, disable, rotate or revoke an AI key',
      access: 'aiAdmin.write',
      body: patchBody(keyPatch, AiKey),
      reply: Type.Object({ data: Type.Optional(Type.Object({ secret: Type.String(secret) })) }),
      errors: [404, 409],
    }),
    activity: route({
      method: 'GET',
      path: `${prefix}/activity`,
      summary: 'Approvals, or the audit of AI keys',
      access: 'aiAdmin.read',
      query: Type.Object({
        ...Type.Pick(ListQuery(['id'], {}), ['count', 'page', 'order']).properties,
        kind: OneOf(['approval', 'audit']),
        state: Type.Optional(Type.String({ maxLength: 32, description: 'State of approvals, outcome of audit rows' })),
        keyId: Type.Optional(Id),
        risk: Type.Optional(OneOf(['R0', 'R1', 'RS', 'R2', 'R3'])),
        from: Type.Optional(Timestamp),
        to: Type.Optional(Timestamp),
        verify: Type.Optional(Type.Boolean({ description: 'Also read the whole chain and check every hash' })),
      }),
      reply: Type.Object({
        ...Page(FreeObject).properties,
        chain: Type.Optional(
          Type.Object({
            entries: Type.Integer(),
            isIntact: Type.Boolean(),
            brokenAt: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
            reason: Type.String(),
          }),
        ),
      }),
    }),
    decide: route({
      method: 'PATCH',
      path: `${prefix}/approvals`,
      summary: 'Approve, reject or revoke what AI keys ask for',
      access: 'aiAdmin.decide',
      body: Type.Object(
        {
          array: Type.Array(Id, { minItems: 1, maxItems: 20, uniqueItems: true, description: 'Ids of approvals' }),
          decision: OneOf(['approve', 'reject', 'revoke']),
          comment: Type.Optional(Type.String({ maxLength: 1024 })),
          digests: Type.Optional(
            Type.Record(Type.String(), Type.String({ maxLength: 80 }), {
              description: 'The digest you were shown, by approval id; needed to approve',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      reply: Data(Type.Array(Type.Pick(Approval, ['id', 'state', 'decisions']))),
      errors: [404, 409, 410],
    }),
  },
});
