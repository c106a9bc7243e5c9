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

interface Limit {
  readonly key: string;
  readonly freeFailures: number;
}

const limitsOf = (email: string, address: string, { freeFailures }: Policy): Limit[] => [
  { key: accountKey(email), freeFailures },
  { key: addressKey(address), freeFailures: freeFailures * addressFactor },
];

/** Attempts whose password is being checked, by account and by address. */
const pending = new Map<string, number>();

/** Seconds until this attempt is allowed, counting the `ahead` attempts before it as failures; 0 when it is now. */
const waitOf = async (read: Executor, { key, freeFailures }: Limit, ahead: number) => {
  const row = await find.first(read, { key });
  const waitMs = row === undefined ? 0 : Date.parse(row.blockedUntil) - Date.now();
  if (waitMs > 0) return Math.ceil(waitMs / 1000);
  return ahead === 0 || (row?.failures ?? 0) + ahead <= freeFailures ? 0 : 1;
};

/**
 * Reserves an attempt before its password is checked, so that attempts at the same time count like attempts one after
 * the other. Answers the seconds to wait, 0 when the attempt is allowed; `release` ends the reservation.
 */
export const reserveAttempt = async (read: Executor, email: string, address: string, policy: Policy) => {
  const limits = limitsOf(email, address, policy);
  const ahead = limits.map(({ key }) => pending.get(key) ?? 0);
  for (const { key } of limits) pending.set(key, (pending.get(key) ?? 0) + 1);
  const release = () => {
    for (const { key } of limits) {
      const left = (pending.get(key) ?? 1) - 1;
      if (left === 0) pending.delete(key);
      else pending.set(key, left);
    }
  };
  try {
    const waits = await Promise.all(limits.map((limit, i) => waitOf(read, limit, ahead[i] ?? 0)));
    return { waitSec: Math.max(...waits), release };
  } catch (error) {
    release();
    throw error;
  }
};

/** The delay after so many failures in a row: none at first, then 1 s, doubling up to the cap; never for good. */
export const delayAfter = (failures: number, freeFailures: number, maxDelaySec: number) =>
  failures <= freeFailures ? 0 : Math.min(maxDelaySec, 2 ** Math.min(30, failures - freeFailures - 1));

/** Counts a failed attempt against the account and the address. True when the account has to wait from now on. */
export const countFailure = async (tx: Executor, email: string, address: string, policy: Policy): Promise<boolean> => {
  const counts: number[] = [];
  for (const { key, freeFailures } of limitsOf(email, address, policy)) {
    counts.push(await fail(tx, key, freeFailures, policy.maxDelaySec));
  }
  return counts[0] === policy.freeFailures + 1;
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
