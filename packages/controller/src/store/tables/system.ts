import { flag, integer, json, maybeInteger, maybeText, text } from '../engine/column.ts';

export const users = {
  id: integer,
  email: text,
  realName: text,
  groupID: integer,
  isActive: flag,
  isRequiredToSetPassword: flag,
  passwordHash: text,
  passwordLength: integer,
  lastLogin: maybeText,
  agreementAccepted: flag,
  notificationsReadAt: maybeText,
  preferences: json<Record<string, unknown>>({}),
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
  deletedAt: maybeText,
};

export const groups = {
  id: integer,
  name: text,
  permissions: json<{ value: number }[]>([]),
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
  deletedAt: maybeText,
};

/** One sign-in. Tokens rotate; the row stays, so ending it ends the whole family. Only hashes are stored. */
export const sessions = {
  id: integer,
  userID: integer,
  accessHash: text,
  refreshHash: text,
  accessExpiresAt: text,
  refreshExpiresAt: text,
  absoluteExpiresAt: text,
  address: text,
  client: text,
  createdAt: text,
};

/** Tokens of people for programs and pipelines. Only hashes are stored. */
export const accessTokens = {
  id: integer,
  userID: integer,
  name: text,
  hash: text,
  prefix: text,
  /** Names of permissions; empty: all of the user. */
  scopes: json<string[]>([]),
  expiresAt: text,
  createdAt: text,
};

/** Refresh tokens that were exchanged already; seeing one again is theft, or a reply that got lost. */
export const retiredTokens = { hash: text, sessionID: integer, successorHash: text, retiredAt: text };

/** Failed sign-ins by account and by address. */
export const throttles = { key: text, failures: integer, blockedUntil: text, updatedAt: text };

/** Which record uses which: a task its networks, an application its capture. Kept with every write of the user. */
export const links = { fromKind: text, fromID: integer, fromName: text, toKind: text, toID: integer };

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

/** How many notifications there are, by blocks of consecutive ids; triggers keep it. */
export const notificationCounts = {
  audience: text,
  severity: text,
  block: integer,
  count: integer,
  oldest: text,
  newest: text,
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

/** A notification on its way to a webhook or a mail address. `state`: pending, delivered, failed. */
export const deliveries = {
  id: integer,
  notificationID: integer,
  /** `webhook` or `mail`. */
  channel: text,
  /** URL or mail address. */
  target: text,
  state: text,
  attempts: integer,
  /** When it is tried next. */
  nextAt: text,
  /** Of the last attempt. */
  error: text,
  createdAt: text,
  updatedAt: text,
};

/** The last notification that deliveries were made of. */
export const deliveryCursor = { id: integer, notificationID: integer };
