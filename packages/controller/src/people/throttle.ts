import { hash } from 'node:crypto';
import type { Settings } from '@rushhour/contract';
import type { Executor } from '../store/engine/database.ts';
import { statement } from '../store/engine/statement.ts';

type Policy = Settings['auth']['lockout'];

/** Many users can share an address, so an address may fail this many times as often as an account. */
const addressFactor = 5;
/** Failures older than this are forgotten. */
const memoryMs = 24 * 3600 * 1000;

const find = statement((db, p: { key: string }) => db.selectFrom('throttles').selectAll().where('key', '=', p.key));
const put = statement((db, p: { key: string; failures: number; blockedUntil: string; updatedAt: string }) =>
  db
    .insertInto('throttles')
    .values({ key: p.key, failures: p.failures, blockedUntil: p.blockedUntil, updatedAt: p.updatedAt })
    .onConflict((c) =>
      c.column('key').doUpdateSet({ failures: p.failures, blockedUntil: p.blockedUntil, updatedAt: p.updatedAt }),
    ),
);
const clear = statement((db, p: { key: string }) => db.deleteFrom('throttles').where('key', '=', p.key));

/** Account names are hashed, so the table does not reveal which addresses were tried. */
const accountKey = (email: string) => `account:${hash('sha256', email.toLowerCase(), 'hex')}`;
const addressKey = (address: string) => `address:${address}`;

/** Seconds until another attempt is allowed, 0 when it is now. */
export const waitingTime = async (read: Executor, email: string, address: string): Promise<number> => {
  const now = Date.now();
  const rows = await Promise.all([
    find.first(read, { key: accountKey(email) }),
    find.first(read, { key: addressKey(address) }),
  ]);
  const until = Math.max(...rows.map((row) => (row ? Date.parse(row.blockedUntil) : 0)));
  return Math.max(0, Math.ceil((until - now) / 1000));
};

/** The delay after so many failures in a row: none at first, then 1 s, doubling up to the cap; never for good. */
export const delayAfter = (failures: number, freeFailures: number, maxDelaySec: number) =>
  failures <= freeFailures ? 0 : Math.min(maxDelaySec, 2 ** Math.min(30, failures - freeFailures - 1));

/** Counts a failed attempt against the account and the address. True when the account has to wait from now on. */
export const countFailure = async (tx: Executor, email: string, address: string, policy: Policy): Promise<boolean> => {
  const account = await fail(tx, accountKey(email), policy.freeFailures, policy.maxDelaySec);
  await fail(tx, addressKey(address), policy.freeFailures * addressFactor, policy.maxDelaySec);
  return account === policy.freeFailures + 1;
};

const fail = async (tx: Executor, key: string, freeFailures: number, maxDelaySec: number) => {
  const now = Date.now();
  const row = await find.first(tx, { key });
  const isFresh = row !== undefined && now - Date.parse(row.updatedAt) < memoryMs;
  const failures = (isFresh ? row.failures : 0) + 1;
  const blockedUntil = new Date(now + delayAfter(failures, freeFailures, maxDelaySec) * 1000).toISOString();
  await put.all(tx, { key, failures, blockedUntil, updatedAt: new Date(now).toISOString() });
  return failures;
};

export const forgetFailures = (tx: Executor, email: string) => clear.all(tx, { key: accountKey(email) });
