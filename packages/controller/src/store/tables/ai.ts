import type { AiConstraints, AiLimits, AiPolicy, AiScope, Approval, ApprovalPlan } from '@rushhour/contract';
import { flag, integer, json, maybeInteger, maybeText, text } from '../engine/column.ts';

/** What a key asked for and who let it. Of the token only a nonce and a hash are kept. */
export const aiApprovals = {
  id: integer,
  keyID: integer,
  ownerID: integer,
  /** Which confirm operation the token is for: `start` or `actions`. */
  family: text,
  action: text,
  taskIds: json<number[]>([]),
  params: json<Record<string, unknown>>({}),
  risk: text,
  policy: text,
  state: text,
  stateReason: maybeText,
  requiredDecisions: integer,
  preventSelfApproval: flag,
  decisions: json<Approval['decisions']>([]),
  digest: text,
  /** What the digest was made from, secrets as keyed hashes: tells what has changed. */
  subject: json<Record<string, unknown>>({}),
  plan: json<ApprovalPlan>({} as ApprovalPlan),
  reason: text,
  nonce: text,
  tokenHash: text,
  /** Given with the request; must then be given with the confirmation too. */
  idempotencyKey: maybeText,
  requestFingerprint: text,
  /** Given with the confirmation that was carried out. */
  confirmKey: maybeText,
  /** What it counts against the budgets of the key. */
  starts: integer,
  agentSeconds: integer,
  generatedBytes: integer,
  runIDs: json<number[]>([]),
  /** Tasks that start again once their present run has ended. */
  restarting: json<number[]>([]),
  result: json<Record<string, unknown> | null>(null),
  createdAt: text,
  updatedAt: text,
  expiresAt: text,
  usedAt: maybeText,
};

/** Tasks in the making. Secrets are sealed by JSON pointer, as in tasks. */
export const aiDrafts = {
  id: integer,
  keyID: integer,
  name: text,
  revision: integer,
  task: json<Record<string, unknown>>({}),
  taskSecrets: json<Record<string, string>>({}),
  expiresAt: text,
  createdAt: text,
  updatedAt: text,
};

/** Of a secret only the hash is kept. Rows are never removed: the audit refers to them. */
export const aiKeys = {
  id: integer,
  /** The part of the key that is no secret, by which it is found. */
  publicId: text,
  name: text,
  /** The owner, whose permissions bound the key. */
  issuerID: maybeInteger,
  isActive: flag,
  scopes: json<AiScope[]>([]),
  policy: json<AiPolicy>({}),
  policyVersion: integer,
  constraints: json<AiConstraints>({}),
  limits: json<AiLimits>({}),
  ipAllowlist: json<string[]>([]),
  secretHash: text,
  /** The secret before the last rotation, and how long it still works. */
  previousHash: maybeText,
  previousValidUntil: maybeText,
  expiresAt: text,
  lastUsedAt: maybeText,
  lastUsedIp: text,
  rotatedAt: maybeText,
  revokedAt: maybeText,
  createdAt: text,
  updatedAt: text,
};

/** Counters of a key on a day (UTC). */
export const aiUsage = {
  keyID: integer,
  day: text,
  requests: integer,
  writes: integer,
  denials: integer,
};
