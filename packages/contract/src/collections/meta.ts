import { Type } from 'typebox';
import { Data, OneOf } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Timestamp } from '../scalars.ts';

const Check = OneOf(['ok', 'failed']);

const Health = Type.Object(
  {
    status: OneOf(['ok', 'degraded']),
    now: Timestamp,
    uptimeSec: Type.Number(),
    checks: Type.Object({ db: Check, storage: Check, agentChannel: Check, scheduler: Check }),
    diskFreeBytes: Type.Optional(Type.Number({ description: 'With `deep`' })),
    queues: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), { description: 'With `deep`: waiting work by queue' }),
    ),
    agentsOnline: Type.Optional(Type.Integer({ description: 'With `deep`' })),
  },
  { title: 'Health' },
);

const Version = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    apiVersion: Type.String(),
    commit: Type.String(),
    builtAt: Type.String(),
    node: Type.String(),
    schemaVersion: Type.Integer(),
    features: Type.Array(Type.String()),
    licence: Type.String(),
  },
  { title: 'Version' },
);

export const meta = collection({
  tag: 'meta',
  title: 'System',
  routes: {
    health: route({
      method: 'GET',
      path: '/health',
      summary: 'Is the controller alive and ready',
      access: 'public',
      query: Type.Object({ deep: Type.Optional(Type.Boolean({ description: 'More detail; needs a session' })) }),
      reply: Data(Health),
      errors: [401],
    }),
    version: route({
      method: 'GET',
      path: '/version',
      summary: 'Build and contract',
      access: 'public',
      reply: Data(Version),
    }),
    permissions: route({
      method: 'GET',
      path: '/permissions',
      summary: 'Permission names and their integers',
      access: 'session',
      reply: Type.Record(Type.String(), Type.Integer()),
      beforePassword: true,
    }),
  },
});
