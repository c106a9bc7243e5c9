import { hash, randomBytes } from 'node:crypto';
import type { Settings, UserSession } from '@rushhour/contract';
import type { Tokens } from '../caller.ts';
import { notFound } from '../errors.ts';
import type { Executor } from '../store/engine/database.ts';
import { inList } from '../store/engine/expressions.ts';
import type { Secrets } from '../store/engine/secrets.ts';
import { statement } from '../store/engine/statement.ts';

type Lifetimes = Pick<Settings['auth'], 'accessTtlSec' | 'refreshTtlSec' | 'absoluteTtlSec'>;

const graceMs = 10_000;

/** Tokens are opaque and 256 bits long; only their hash is stored. */
export const tokenHash = (token: string) => hash('sha256', token, 'hex');

const after = (nowMs: number, seconds: number) => new Date(nowMs + seconds * 1000).toISOString();

const insert = statement(
  (
    db,
    p: {
      userID: number;
      accessHash: string;
      refreshHash: string;
      accessExpiresAt: string;
      refreshExpiresAt: string;
      absoluteExpiresAt: string;
      address: string;
      client: string;
      createdAt: string;
    },
  ) =>
    db.insertInto('sessions').values({
      userID: p.userID,
      accessHash: p.accessHash,
      refreshHash: p.refreshHash,
      accessExpiresAt: p.accessExpiresAt,
      refreshExpiresAt: p.refreshExpiresAt,
      absoluteExpiresAt: p.absoluteExpiresAt,
      address: p.address,
      client: p.client,
      createdAt: p.createdAt,
    } as never),
);

interface SignedInFrom {
  readonly address: string;
  readonly client: string;
}

/** Opens a session for a user. */
export const openSession = async (
  tx: Executor,
  userID: number,
  from: SignedInFrom,
  life: Lifetimes,
): Promise<Tokens> => {
  const now = Date.now();
  const tokens = {
    accessToken: randomBytes(32).toString('base64url'),
    refreshToken: randomBytes(32).toString('base64url'),
    accessExpiresAt: after(now, life.accessTtlSec),
    refreshExpiresAt: after(now, Math.min(life.refreshTtlSec, life.absoluteTtlSec)),
  };
  await insert.all(tx, {
    userID,
    accessHash: tokenHash(tokens.accessToken),
    refreshHash: tokenHash(tokens.refreshToken),
    accessExpiresAt: tokens.accessExpiresAt,
    refreshExpiresAt: tokens.refreshExpiresAt,
    absoluteExpiresAt: after(now, life.absoluteTtlSec),
    ...from,
    createdAt: new Date(now).toISOString(),
  });
  return tokens;
};

const byRefresh = statement((db, p: { hash: string }) =>
  db.selectFrom('sessions').selectAll().where('refreshHash', '=', p.hash),
);
const byRetired = statement((db, p: { hash: string }) =>
  db
    .selectFrom('retiredTokens')
    .innerJoin('sessions', 'sessions.id', 'retiredTokens.sessionID')
    .selectAll('sessions')
    .select(['retiredTokens.successorHash', 'retiredTokens.retiredAt'])
    .where('retiredTokens.hash', '=', p.hash),
);
const rotate = statement(
  (db, p: { id: number; accessHash: string; refreshHash: string; accessExpiresAt: string; refreshExpiresAt: string }) =>
    db
      .updateTable('sessions')
      .set({
        accessHash: p.accessHash,
        refreshHash: p.refreshHash,
        accessExpiresAt: p.accessExpiresAt,
        refreshExpiresAt: p.refreshExpiresAt,
      })
      .where('id', '=', p.id),
);
const retire = statement((db, p: { hash: string; sessionID: number; successorHash: string; retiredAt: string }) =>
  db
    .insertInto('retiredTokens')
    .values({ hash: p.hash, sessionID: p.sessionID, successorHash: p.successorHash, retiredAt: p.retiredAt }),
);

export type Refreshed =
  | { outcome: 'rotated'; userID: number; tokens: Tokens }
  | { outcome: 'reused'; userID: number; sessionID: number }
  | { outcome: 'unknown' };

/**
 * Exchanges a refresh token. The successors are derived from the old token, so that a client whose reply got lost
 * receives the same pair again within the grace time; any other reuse of a retired token is reported as such.
 */
export const refreshSession = async (
  tx: Executor,
  token: string,
  life: Lifetimes,
  secrets: Secrets,
): Promise<Refreshed> => {
  const now = Date.now();
  const nowIso = new Date(now).toISOString();
  const presented = tokenHash(token);
  const accessToken = secrets.derive('access', token).toString('base64url');
  const refreshToken = secrets.derive('refresh', token).toString('base64url');
  const session = await byRefresh.first(tx, { hash: presented });
  if (session !== undefined) {
    if (session.refreshExpiresAt <= nowIso) return { outcome: 'unknown' };
    const refreshMs = Math.min(now + life.refreshTtlSec * 1000, Date.parse(session.absoluteExpiresAt));
    const tokens = {
      accessToken,
      refreshToken,
      accessExpiresAt: after(now, life.accessTtlSec),
      refreshExpiresAt: new Date(refreshMs).toISOString(),
    };
    const successorHash = tokenHash(refreshToken);
    await retire.all(tx, { hash: presented, sessionID: session.id, successorHash, retiredAt: nowIso });
    await rotate.all(tx, {
      id: session.id,
      accessHash: tokenHash(accessToken),
      refreshHash: successorHash,
      ...expiryOf(tokens),
    });
    return { outcome: 'rotated', userID: session.userID, tokens };
  }
  const retired = await byRetired.first(tx, { hash: presented });
  if (retired === undefined) return { outcome: 'unknown' };
  const isPredecessor = retired.successorHash === retired.refreshHash;
  if (isPredecessor && now - Date.parse(retired.retiredAt) <= graceMs) {
    return { outcome: 'rotated', userID: retired.userID, tokens: { accessToken, refreshToken, ...expiryOf(retired) } };
  }
  return { outcome: 'reused', userID: retired.userID, sessionID: retired.id };
};

const expiryOf = ({ accessExpiresAt, refreshExpiresAt }: { accessExpiresAt: string; refreshExpiresAt: string }) => ({
  accessExpiresAt,
  refreshExpiresAt,
});

const removeRetired = statement((db, p: { ids: string }, engine) =>
  db.deleteFrom('retiredTokens').where(inList('sessionID', p.ids, engine)),
);
const removeSessions = statement((db, p: { ids: string }, engine) =>
  db.deleteFrom('sessions').where(inList('id', p.ids, engine)),
);
const ofUsers = statement((db, p: { userIDs: string }, engine) =>
  db
    .selectFrom('sessions')
    .select('id')
    .where(inList('userID', p.userIDs, engine)),
);

/** Ends sessions with every token they ever had. */
export const endSessions = async (tx: Executor, ids: readonly number[]) => {
  const list = { ids: JSON.stringify(ids) };
  await removeRetired.all(tx, list);
  await removeSessions.all(tx, list);
};

/** Ends all sessions of the users except `keepID`. */
export const endSessionsOf = async (tx: Executor, userIDs: readonly number[], keepID?: number) => {
  const rows = await ofUsers.all(tx, { userIDs: JSON.stringify(userIDs) });
  await endSessions(
    tx,
    rows.map(({ id }) => id).filter((id) => id !== keepID),
  );
};

const openOf = statement((db, p: { userID: number; now: string }) =>
  db
    .selectFrom('sessions')
    .select(['id', 'address', 'client', 'createdAt', 'refreshExpiresAt as expiresAt'])
    .where('userID', '=', p.userID)
    .where('refreshExpiresAt', '>', p.now)
    .orderBy('id', 'desc'),
);

/** The sessions of a user that still work, newest first. */
export const sessionsOf = async (read: Executor, userID: number, currentID?: number): Promise<UserSession[]> => {
  const rows = await openOf.all(read, { userID, now: new Date().toISOString() });
  return rows.map((row) => ({ ...row, isCurrent: row.id === currentID }));
};

/** Ends sessions of the user, all or none. */
export const endOwnSessions = async (tx: Executor, userID: number, ids: readonly number[]) => {
  const own = new Set((await sessionsOf(tx, userID)).map(({ id }) => id));
  const missing = ids.find((id) => !own.has(id));
  if (missing !== undefined) throw notFound('session', missing);
  await endSessions(tx, ids);
};

const expired = statement((db, p: { now: string }) =>
  db.selectFrom('sessions').select('id').where('refreshExpiresAt', '<=', p.now),
);

export const sweepSessions = async (tx: Executor) => {
  const rows = await expired.all(tx, { now: new Date().toISOString() });
  await endSessions(
    tx,
    rows.map(({ id }) => id),
  );
};
