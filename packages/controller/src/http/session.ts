import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Tokens } from '../caller.ts';
import { forbidden } from '../errors.ts';
import { scopedPermissions } from '../people/access-tokens.ts';
import { tokenHash } from '../people/sessions.ts';
import type { Executor } from '../store/engine/database.ts';
import { statement } from '../store/engine/statement.ts';
import type { Tables } from '../store/tables/index.ts';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a page of this origin was sent by this controller: scheme, name and port are equal. */
export const isOwnOrigin = (origin: string, protocol: string, host: string | undefined) =>
  origin.toLowerCase() === `${protocol}://${host}`.toLowerCase();

/**
 * Refuses changes that a page of another origin makes with our cookies. Browsers send the origin of a request;
 * a client that sends none is not a browser.
 */
export const assertSameOrigin = ({ method = '', headers }: IncomingMessage, protocol: string) => {
  if (safe.has(method) || headers.cookie === undefined) return;
  const site = headers['sec-fetch-site'];
  const isOwn =
    site === undefined
      ? headers.origin === undefined || isOwnOrigin(headers.origin, protocol, headers.host)
      : site === 'same-origin' || site === 'none';
  if (!isOwn) throw forbidden('CROSS_ORIGIN', 'a page of another origin may not change anything here');
};

/** The session and user behind a valid access token. */
export interface SessionFacts {
  sessionId: number;
  userId: number;
  expiresAtMs: number;
  isRequiredToSetPassword: boolean;
  agreementAccepted: boolean;
  permissions: ReadonlySet<number>;
  /** An access token instead of a sign-in. */
  isToken?: true;
}

/** Sessions in which requests are accepted now. */
const openSessions = (db: Kysely<Tables>, now: string) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.userID')
    .innerJoin('groups', 'groups.id', 'users.groupID')
    .select([
      'sessions.id as sessionId',
      'sessions.accessExpiresAt',
      'users.id as userId',
      'users.isRequiredToSetPassword',
      'users.agreementAccepted',
      'groups.permissions',
    ])
    .where('sessions.accessExpiresAt', '>', now)
    .where('users.isActive', '=', 1)
    .where('users.deletedAt', 'is', null);

const find = statement((db, p: { hash: string; now: string }) =>
  openSessions(db, p.now).where('sessions.accessHash', '=', p.hash),
);
const findById = statement((db, p: { id: number; now: string }) =>
  openSessions(db, p.now).where('sessions.id', '=', p.id),
);

const parsed = new Map<string, ReadonlySet<number>>();
/** Parsed permission lists, cached: groups are few and every request reads one. */
const permissionsOf = (list: string) => {
  let found = parsed.get(list);
  if (found === undefined) {
    found = new Set((JSON.parse(list) as { value: number }[]).map(({ value }) => value));
    if (parsed.size > 1000) parsed.clear();
    parsed.set(list, found);
  }
  return found;
};

/** Sessions found in a snapshot of the store stay valid as long as the snapshot. */
const foundIn = new WeakMap<object, Map<string, SessionFacts>>();

const factsIn = (snapshot: object) => {
  let found = foundIn.get(snapshot);
  if (found === undefined) {
    found = new Map();
    foundIn.set(snapshot, found);
  }
  return found;
};

/**
 * The session behind an access token, or undefined. Never older than the store: a block or sign-out takes effect immediately.
 * Returned without a promise when it is cached.
 */
export const findSession = (
  read: Executor,
  accessToken: string | undefined,
): SessionFacts | undefined | Promise<SessionFacts | undefined> => {
  if (accessToken === undefined || accessToken.length > 128) return undefined;
  const known = read.snapshot && factsIn(read.snapshot);
  const facts = known?.get(accessToken);
  return facts !== undefined && facts.expiresAtMs > Date.now() ? facts : readSession(read, accessToken, known);
};

const readSession = async (read: Executor, accessToken: string, known: Map<string, SessionFacts> | undefined) => {
  const row = await find.first(read, { hash: tokenHash(accessToken), now: new Date().toISOString() });
  if (row === undefined) return undefined;
  const session = factsOf(row);
  known?.set(accessToken, session);
  return session;
};

type SessionRow = NonNullable<Awaited<ReturnType<typeof find.first>>>;

const factsOf = (row: SessionRow): SessionFacts => ({
  sessionId: row.sessionId,
  userId: row.userId,
  expiresAtMs: Date.parse(row.accessExpiresAt),
  isRequiredToSetPassword: row.isRequiredToSetPassword === 1,
  agreementAccepted: row.agreementAccepted === 1,
  permissions: permissionsOf(row.permissions),
});

/** The session as it is now, whichever of its tokens is current; undefined once requests are refused. */
export const findSessionById = async (read: Executor, id: number): Promise<SessionFacts | undefined> => {
  const now = new Date().toISOString();
  if (id < 0) {
    const token = await findTokenById.first(read, { id: -id, now });
    return token && factsOfToken(token);
  }
  const row = await findById.first(read, { id, now });
  return row && factsOf(row);
};

const findToken = statement((db, p: { hash: string; now: string }) =>
  openTokens(db, p.now).where('accessTokens.hash', '=', p.hash),
);
const findTokenById = statement((db, p: { id: number; now: string }) =>
  openTokens(db, p.now).where('accessTokens.id', '=', p.id),
);

/** Access tokens with which requests are accepted now. */
const openTokens = (db: Kysely<Tables>, now: string) =>
  db
    .selectFrom('accessTokens')
    .innerJoin('users', 'users.id', 'accessTokens.userID')
    .innerJoin('groups', 'groups.id', 'users.groupID')
    .select([
      'accessTokens.id as tokenId',
      'accessTokens.scopes',
      'accessTokens.expiresAt',
      'users.id as userId',
      'users.isRequiredToSetPassword',
      'users.agreementAccepted',
      'groups.permissions',
    ])
    .where('accessTokens.expiresAt', '>', now)
    .where('users.isActive', '=', 1)
    .where('users.deletedAt', 'is', null);

type TokenRow = NonNullable<Awaited<ReturnType<typeof findToken.first>>>;

/** A token is a session of its own; its id is negative, so that it is no id of a sign-in. */
const factsOfToken = (row: TokenRow): SessionFacts => ({
  sessionId: -Number(row.tokenId),
  userId: row.userId,
  expiresAtMs: Date.parse(row.expiresAt),
  isRequiredToSetPassword: row.isRequiredToSetPassword === 1,
  agreementAccepted: row.agreementAccepted === 1,
  permissions: scopedPermissions(permissionsOf(row.permissions), JSON.parse(row.scopes) as string[]),
  isToken: true,
});

/** Who an access token stands for; undefined when it is unknown, expired or revoked. */
export const findTokenSession = async (read: Executor, token: string): Promise<SessionFacts | undefined> => {
  const row = await findToken.first(read, { hash: tokenHash(token), now: new Date().toISOString() });
  return row && factsOfToken(row);
};

/** One cookie of the Cookie header, without parsing the others. */
export const cookieOf = (request: FastifyRequest, name: string): string | undefined => {
  const header = request.headers.cookie;
  if (header === undefined) return undefined;
  const mark = `${name}=`;
  for (let at = header.indexOf(mark); at >= 0; at = header.indexOf(mark, at + 1)) {
    const isWhole = at === 0 || header[at - 1] === ' ' || header[at - 1] === ';';
    if (!isWhole) continue;
    const end = header.indexOf(';', at);
    return header.slice(at + mark.length, end < 0 ? undefined : end).trim();
  }
  return undefined;
};

/** The Set-Cookie headers that set a pair of tokens, or clear it. */
export const cookiesFor = (tokens: Tokens | undefined, isTls: boolean): string[] => {
  const flags = `HttpOnly; SameSite=Strict; Path=/${isTls ? '; Secure' : ''}`;
  const cookie = (name: string, value: string, expires: string) =>
    `${name}=${value}; ${flags}; Expires=${new Date(expires).toUTCString()}`;
  const past = '1970-01-01T00:00:00.000Z';
  return [
    cookie('accessToken', tokens?.accessToken ?? '', tokens?.accessExpiresAt ?? past),
    cookie('refreshToken', tokens?.refreshToken ?? '', tokens?.refreshExpiresAt ?? past),
  ];
};
