import { integer, json, maybeInteger, maybeText, text } from '../engine/column.ts';

/** Append only; each row's hash covers the row before it. */
export const audit = {
  id: integer,
  at: text,
  userID: maybeInteger,
  address: text,
  requestId: text,
  operation: text,
  outcome: text,
  targets: json<Record<string, number[]>>({}),
  detail: json<Record<string, unknown>>({}),
  hash: text,
};

/** The newest hash of the audit chain. Locking it puts all changes in one order. */
export const auditHead = { id: integer, entries: integer, hash: text };

export const idempotencyKeys = { userID: integer, key: text, fingerprint: text, reply: text, createdAt: text };

export const settings = { id: integer, value: json<Record<string, unknown>>({}), updatedAt: text };

/** Facts about the installation: the schema version and the check value of the secret key. */
export const installation = { name: text, value: text };

export const notifications = {
  id: integer,
  severity: text,
  kind: text,
  message: text,
  entityType: maybeText,
  entityID: maybeInteger,
  /** Who sees it: `user:<id>`, or everyone who holds `permission:<integer>`. */
  audience: text,
  createdAt: text,
};

export const projects = {
  ID: integer,
  name: text,
  description: text,
  issuerID: maybeInteger,
  archivedAt: maybeText,
  createdAt: text,
  updatedAt: text,
};
