import { Type } from 'typebox';
import { Data } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Timestamp } from '../scalars.ts';
import { Component, OneOf, optional } from '../schema.ts';

const Check = OneOf(['ok', 'failed']);

const Health = Component('Health', {
  status: OneOf(['ok', 'degraded']),
  now: Timestamp,
  uptimeSec: Type.Number(),
  checks: Type.Object({ db: Check, storage: Check, agentChannel: Check, scheduler: Check }),
  diskFreeBytes: Type.Optional(Type.Number({ description: 'With `deep`' })),
  queues: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), { description: 'With `deep`: waiting work by queue' }),
  ),
  agentsOnline: Type.Optional(Type.Integer({ description: 'With `deep`' })),
});

const Version = Component('Version', {
  name: Type.String(),
  version: Type.String(),
  apiVersion: Type.String(),
  commit: Type.String(),
  builtAt: Type.String(),
  node: Type.String(),
  schemaVersion: Type.Integer(),
  features: Type.Array(Type.String()),
  licence: Type.String(),
});

export const meta = collection({
  tag: 'meta',
  title: 'System',
  routes: {
    health: route('GET /health', {
      summary: 'Is the controller alive and ready',
      access: 'public',
      query: Type.Object({ deep: optional.flag('More detail; needs a session') }),
      reply: Data(Health),
      errors: [401],
    }),
    version: route('GET /version', {
      summary: 'Build and contract',
      access: 'public',
      reply: Data(Version),
    }),
    permissions: route('GET /permissions', {
      summary: 'Permission names and their integers',
      access: 'session',
      reply: Type.Record(Type.String(), Type.Integer()),
      beforePassword: true,
    }),
  },
});
