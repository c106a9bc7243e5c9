import { randomBytes } from 'node:crypto';
import { type AccessToken, type Permission, permissions } from '@rushhour/contract';
import { conflict, notFound } from '../errors.ts';
import type { Change } from '../store/engine/change.ts';
import type { Executor } from '../store/engine/database.ts';
import { inList } from '../store/engine/expressions.ts';
import { statement } from '../store/engine/statement.ts';
import { allows } from './permissions.ts';
import { tokenHash } from './sessions.ts';

const mark = 'rh_pat_';
const prefixLength = mark.length + 6;
const maxTokens = 50;
const dayMs = 86_400_000;

/** The access token of an Authorization header. */
export const accessTokenIn = (authorization: string | undefined): string | undefined => {
  const [, token] = /^Bearer +(rh_pat_[A-Za-z0-9_-]{43})$/i.exec(authorization ?? '') ?? [];
  return token;
};

const insert = statement(
  (
    db,
    p: {
      userID: number;
      name: string;
      hash: string;
      prefix: string;
      scopes: string;
      expiresAt: string;
      createdAt: string;
    },
  ) =>
    db
      .insertInto('accessTokens')
      .values({
        userID: p.userID,
        name: p.name,
        hash: p.hash,
        prefix: p.prefix,
        scopes: p.scopes,
        expiresAt: p.expiresAt,
        createdAt: p.createdAt,
      } as never)
      .returning('id'),
);
const valid = statement((db, p: { userID: number; now: string }) =>
  db
    .selectFrom('accessTokens')
    .select(['id', 'name', 'prefix', 'scopes', 'expiresAt', 'createdAt'])
    .where('userID', '=', p.userID)
    .where('expiresAt', '>', p.now)
    .orderBy('id'),
);
const removeOwn = statement((db, p: { userID: number; ids: string }, engine) =>
  db
    .deleteFrom('accessTokens')
    .where('userID', '=', p.userID)
    .where(inList('id', p.ids, engine))
    .returning('id'),
);
const removeOf = statement((db, p: { userIDs: string }, engine) =>
  db
    .deleteFrom('accessTokens')
    .where(inList('userID', p.userIDs, engine))
    .returning('id'),
);
const removeExpired = statement((db, p: { now: string }) =>
  db.deleteFrom('accessTokens').where('expiresAt', '<=', p.now),
);

/** The tokens of a user that still work. */
export const accessTokensOf = async (read: Executor, userID: number): Promise<AccessToken[]> => {
  const rows = await valid.all(read, { userID, now: new Date().toISOString() });
  return rows.map((row) => ({ ...row, scopes: JSON.parse(row.scopes) as string[] }));
};

interface Wanted {
  readonly name: string;
  readonly scopes?: readonly string[] | undefined;
  readonly ttlDays?: number | undefined;
}

/** Makes a token and returns it; from now on only its hash is known. */
export const createAccessToken = async (tx: Change, userID: number, { name, scopes = [], ttlDays = 90 }: Wanted) => {
  const tokens = await accessTokensOf(tx, userID);
  if (tokens.length >= maxTokens) throw conflict('TOO_MANY_TOKENS', `you have ${maxTokens} access tokens: revoke some`);
  const token = mark + randomBytes(32).toString('base64url');
  const row = await insert.first(tx, {
    userID,
    name,
    hash: tokenHash(token),
    prefix: token.slice(0, prefixLength),
    scopes: JSON.stringify(scopes),
    expiresAt: new Date(Date.now() + ttlDays * dayMs).toISOString(),
    createdAt: tx.now,
  });
  const tokenID = Number(row?.id);
  tx.touch('accessTokens', tokenID);
  return { token, tokenID };
};

/** Revokes tokens of the user, all or none. */
export const revokeAccessTokens = async (tx: Change, userID: number, ids: readonly number[]) => {
  const removed = new Set((await removeOwn.all(tx, { userID, ids: JSON.stringify(ids) })).map(({ id }) => Number(id)));
  const missing = ids.find((id) => !removed.has(id));
  if (missing !== undefined) throw notFound('access token', missing);
  for (const id of removed) tx.touch('accessTokens', id);
};

/** Revokes every token of the users. */
export const revokeAccessTokensOf = async (tx: Change, userIDs: readonly number[]) => {
  for (const { id } of await removeOf.all(tx, { userIDs: JSON.stringify(userIDs) }))
    tx.touch('accessTokens', Number(id));
};

export const sweepAccessTokens = (tx: Executor) => removeExpired.all(tx, { now: new Date().toISOString() });

/** What a token may do: its scopes, as far as its user still holds them. */
export const scopedPermissions = (held: ReadonlySet<number>, scopes: readonly string[]): ReadonlySet<number> =>
  scopes.length === 0
    ? held
    : new Set((scopes as Permission[]).filter((name) => allows(held, name)).map((name) => permissions[name]));

/** Operations that need the person: sign-in, new tokens, keys of the AI gateway and approvals. */
const personal = new Set([
  'auth.logout',
  'auth.password',
  'users.updateMe',
  'aiAdmin.createKey',
  'aiAdmin.updateKey',
  'aiAdmin.decide',
]);

export const needsPerson = (operation: string) => personal.has(operation);
