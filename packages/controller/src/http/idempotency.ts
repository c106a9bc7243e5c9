import { hash } from 'node:crypto';
import { conflict, invalid } from '../errors.ts';
import { KeyInUse, type Origin } from '../store/engine/change.ts';
import { statement } from '../store/engine/statement.ts';
import type { Store } from '../store/store.ts';

const keptMs = 24 * 3600 * 1000;
const maxKeyLength = 255;

const find = statement((db, p: { userID: number; key: string; since: string }) =>
  db
    .selectFrom('idempotencyKeys')
    .select(['fingerprint', 'reply'])
    .where('userID', '=', p.userID)
    .where('key', '=', p.key)
    .where('createdAt', '>', p.since),
);
const sweep = statement((db, p: { before: string }) =>
  db.deleteFrom('idempotencyKeys').where('createdAt', '<=', p.before),
);

export const sweepIdempotencyKeys = (store: Store) =>
  store.database.transaction((tx) => sweep.all(tx, { before: new Date(Date.now() - keptMs).toISOString() }));

/** A request that may be repeated. */
export interface Repeatable {
  readonly userId: number;
  readonly operation: string;
  idempotency: Origin['idempotency'];
  setHeader(name: string, value: string): void;
}

/**
 * Runs a request at most once for each key of a user. The reply is stored with the change itself, so that a repeated
 * request gets the first answer whatever happened in between; another body under the same key is refused.
 */
export const runOnce = async <T>(
  store: Store,
  caller: Repeatable,
  key: string,
  body: unknown,
  run: () => Promise<T>,
): Promise<T> => {
  if (key === '' || key.length > maxKeyLength) {
    const message = `must have 1 to ${maxKeyLength} characters`;
    throw invalid([{ path: '/Idempotency-Key', code: 'LENGTH', message, in: 'header' }]);
  }
  const fingerprint = hash('sha256', `${caller.operation}\0${JSON.stringify(body ?? null)}`, 'hex');
  const first = await replay<T>(store, caller, key, fingerprint);
  if (first) return first.reply;
  caller.idempotency = { key, fingerprint };
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof KeyInUse)) throw error;
    const other = await replay<T>(store, caller, key, fingerprint);
    if (other) return other.reply;
    throw error;
  }
};

const replay = async <T>(store: Store, caller: Repeatable, key: string, fingerprint: string) => {
  const since = new Date(Date.now() - keptMs).toISOString();
  const row = await find.first(store.read, { userID: caller.userId, key, since });
  if (row === undefined) return undefined;
  if (row.fingerprint !== fingerprint) {
    throw conflict('IDEMPOTENCY_KEY_MISMATCH', 'this Idempotency-Key was used with another request');
  }
  caller.setHeader('idempotent-replayed', 'true');
  const location = { table: 'idempotencyKeys', id: `${caller.userId}:${key}`, column: 'reply' };
  return { reply: (JSON.parse(store.secrets.open(row.reply, location)) ?? undefined) as T };
};
