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
  createdAt: text,
};

/** Refresh tokens that were exchanged already; seeing one again is theft, or a reply that got lost. */
export const retiredTokens = { hash: text, sessionID: integer, successorHash: text, retiredAt: text };

/** Failed sign-ins by account and by address. */
export const throttles = { key: text, failures: integer, blockedUntil: text, updatedAt: text };
