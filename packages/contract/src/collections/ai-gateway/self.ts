import { Type } from 'typebox';
import { route } from '../../route.ts';
import { NullableNumber, Timestamp } from '../../scalars.ts';
import { OneOf, optional } from '../../schema.ts';
import { AiConstraints, AiLimits, AiPolicy, Scopes } from '../ai-admin/ai-key.ts';
import { AiOne, aiOperation, FreeObject } from './operation.ts';

const prefix = '/ai/gateway';
const Remaining = Type.Record(Type.String(), NullableNumber);

/** Identity and rights of the calling key. */
export const aiSelfRoutes = {
  whoami: route(`GET ${prefix}/whoami`, {
    summary: 'This key: its owner, rights, limits and what is left of them',
    access: 'aiKey',
    ai: aiOperation('whoami', 'any', 'read'),
    reply: AiOne(
      Type.Object({
        id: Type.Integer(),
        name: Type.String(),
        prefix: Type.String(),
        owner: Type.Object({ id: Type.Integer(), realName: Type.String() }),
        scopes: Scopes,
        effectiveScopes: Type.Array(Type.String(), { description: 'Scopes that the owner’s permissions still cover' }),
        policy: AiPolicy,
        constraints: AiConstraints,
        limits: AiLimits,
        remaining: Remaining,
        expiresAt: Timestamp,
        serverTime: Timestamp,
        mcpUrl: Type.String(),
      }),
    ),
  }),
  capabilities: route(`GET ${prefix}/capabilities`, {
    summary: 'Operations, actions, enumerations and schema names, and which of them this key may use',
    access: 'aiKey',
    ai: aiOperation('capabilities', 'any', 'read'),
    query: Type.Object({
      include: optional.array(OneOf(['operations', 'actions', 'enums', 'schemas']), {
        maxItems: 4,
        description: 'Parts to answer; all unless said',
      }),
    }),
    reply: AiOne(
      Type.Object({
        operations: optional.array(FreeObject),
        actions: optional.array(FreeObject),
        enums: Type.Optional(FreeObject),
        schemas: optional.array(Type.String()),
        truncated: optional.flag(),
      }),
    ),
  }),
  schema: route(`GET ${prefix}/schemas/:name`, {
    summary: 'A JSON Schema with examples: task, task.values.httpParams, network, …',
    access: 'aiKey',
    ai: aiOperation('schema_get', 'any', 'read'),
    params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
    reply: AiOne(
      Type.Object({
        name: Type.String(),
        schema: FreeObject,
        secretPointers: Type.Array(Type.String(), {
          description: 'Members that read back redacted and that keys cannot set',
        }),
        examples: Type.Array(Type.Unknown()),
        truncated: optional.flag(),
      }),
    ),
    errors: [404],
  }),
  overview: route(`GET ${prefix}/overview`, {
    summary: 'Agents, tasks, recent events, waiting approvals and warnings at a glance',
    access: 'aiKey',
    ai: aiOperation('overview', 'state:read', 'read'),
    reply: AiOne(
      Type.Object({
        agents: Type.Object({
          total: Type.Integer(),
          online: Type.Integer(),
          busy: Type.Integer(),
          lost: Type.Integer(),
        }),
        tasks: Type.Object({ running: Type.Integer(), queued: Type.Integer(), failed24h: Type.Integer() }),
        events: Type.Array(FreeObject, { description: 'The last 10' }),
        pendingApprovals: Type.Integer(),
        warnings: Type.Array(Type.String()),
        truncated: optional.flag(),
      }),
    ),
  }),
};
