import { type Static, Type } from 'typebox';
import { Id, Timestamp } from '../scalars.ts';
import { Component, Nullable, OneOf } from '../schema.ts';

export const attackKinds = ['cve', 'malware', 'waf', 'fuzz', 'har', 'campaign', 'application', 'benign'] as const;
export const attackOutcomes = ['blocked', 'modified', 'passed', 'inconclusive', 'error', 'skipped'] as const;
export const attackMechanisms = [
  'tcp-reset',
  'silent-drop',
  'connect-refused',
  'block-page',
  'fin',
  'tls-alert',
  'icmp',
  'content-replaced',
  'content-removed',
  'response-blocked',
  'rate-limited',
] as const;

const count = Type.Integer({ minimum: 0 });
const hash = Type.String({ description: 'SHA-256 in lower-case hex; empty when there was nothing' });
const tls = Type.Optional(
  Type.Object(
    { ja3: Type.String(), ja4: Type.String() },
    { description: 'Fingerprints of what the TLS client offered, here as it left or arrived' },
  ),
);
const side = {
  agentID: Type.Integer({ minimum: 0, description: '0 when no agent told anything' }),
  ip: Type.String(),
  port: count,
};

const ClientSide = Component('AttackClientSide', {
  ...side,
  connect: OneOf(['ok', 'refused', 'timeout', 'unreachable', 'tls-failed', 'none']),
  sentBytes: count,
  sentSha256: hash,
  end: OneOf(['response', 'reset', 'fin', 'timeout', 'alert', 'none']),
  status: Type.Integer({ description: 'Of the answer; 0 without one' }),
  rxBytes: count,
  rxSha256: hash,
  responseIsOurs: Type.Boolean({ description: 'The answer is byte for byte the one our server sent' }),
  ttfbMs: Type.Number(),
  tls,
});

const ServerSide = Component('AttackServerSide', {
  ...side,
  seen: OneOf(['none', 'connected', 'partial', 'full', 'modified']),
  rxBytes: count,
  rxSha256: hash,
  sentBytes: count,
  end: OneOf(['reset', 'fin', 'timeout', 'none']),
  tls,
});

/** Outcome of one attempt, as seen by both agents. */
export const AttackResult = Component('AttackResult', {
  id: Id,
  taskID: Id,
  iteration: Type.Integer({ description: 'Which run of the task' }),
  kind: OneOf(attackKinds),
  refID: Type.Integer({ description: 'Signature, sample or campaign; 0 without a record' }),
  refName: Type.String(),
  variant: Type.String(),
  attemptID: Type.String(),
  expected: OneOf(['block', 'detect', 'allow']),
  severity: Type.String(),
  techniques: Type.Array(Type.String()),
  direction: OneOf(['c2s', 's2c']),
  client: ClientSide,
  server: ServerSide,
  outcome: OneOf(attackOutcomes),
  mechanism: Type.Unsafe<(typeof attackMechanisms)[number] | null>({
    type: ['string', 'null'],
    enum: [...attackMechanisms, null],
    description: 'How it was stopped or changed',
  }),
  detected: OneOf(['yes', 'no', 'unknown'], { description: 'Unknown unless alerts are read' }),
  alerts: Type.Array(
    Type.Object({ time: Type.String(), rule: Type.String(), message: Type.String(), action: Type.String() }),
  ),
  confidence: OneOf(['high', 'medium', 'low']),
  reason: Type.String({ description: 'One sentence of what was seen' }),
  changes: Type.Array(Type.String(), {
    description: 'What was changed on the way: a part of the message, how, and from what to what',
  }),
  control: Type.Object({ before: Type.Boolean(), after: Type.Boolean() }),
  startedAt: Timestamp,
  durationMs: Type.Number(),
});
export type AttackResult = Static<typeof AttackResult>;

/** Outcomes counted, with the block rate and its 95 % interval. */
export const AttackSummary = Component('AttackSummary', {
  attempts: count,
  blocked: count,
  modified: count,
  passed: count,
  inconclusive: count,
  error: count,
  detected: count,
  blockRate: Nullable(Type.Number({ description: 'Of the attempts that were decided; null when none was' })),
  ci95: Type.Unsafe<[number, number] | null>({
    type: ['array', 'null'],
    items: { type: 'number' },
    description: 'Wilson interval of the block rate',
  }),
});
export type AttackSummary = Static<typeof AttackSummary>;
