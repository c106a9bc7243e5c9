import { Type } from 'typebox';
import { OneOf } from '../envelopes.ts';
import { route } from '../route.ts';
import { Timestamp } from '../scalars.ts';
import { AiOne, aiOperation, FreeObject } from './ai-gateway-operation.ts';
import { AiConstraints, AiLimits, AiPolicy, Scopes } from './ai-key-fields.ts';

const prefix = '/ai/gateway';
const Remaining = Type.Record(Type.String(), Type.Unsafe<number | null>({ type: ['number', 'null'] }));

/** Who the key is and what it can do. */
export const aiSelfRoutes = {
  whoami: route({
    method: 'GET',
    path: `${prefix}/whoami`,
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
  capabilities: route({
    method: 'GET',
    path: `${prefix}/capabilities`,
    summary: 'Operations, actions, enumerations and schema names, and which of them this key may use',
    access: 'aiKey',
    ai: aiOperation('capabilities', 'any', 'read'),
    query: Type.Object({
      include: Type.Optional(
        Type.Array(OneOf(['operations', 'actions', 'enums', 'schemas']), {
          maxItems: 4,
          description: 'Parts to answer; all unless said',
        }),
      ),
    }),
    reply: AiOne(
      Type.Object({
        operations: Type.Optional(Type.Array(FreeObject)),
        actions: Type.Optional(Type.Array(FreeObject)),
        enums: Type.Optional(FreeObject),
        schemas: Type.Optional(Type.Array(Type.String())),
        truncated: Type.Optional(Type.Boolean()),
      }),
    ),
  }),
  schema: route({
    method: 'GET',
    path: `${prefix}/schemas/:name`,
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
        truncated: Type.Optional(Type.Boolean()),
      }),
    ),
    errors: [404],
  }),
  overview: route({
    method: 'GET',
    path: `${prefix}/overview`,
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
        truncated: Type.Optional(Type.Boolean()),
      }),
    ),
  }),
};
