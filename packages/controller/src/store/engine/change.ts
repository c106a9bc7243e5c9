import { invalid } from '../../errors.ts';
import type { Tables } from '../tables/index.ts';
import { type AuditEntry, appendAudit, lockAudit } from './audit.ts';
import { type Database, type Executor, UniqueViolation } from './database.ts';
import type { Secrets } from './secrets.ts';
import { everyColumn, statement } from './statement.ts';

/** The user and request behind a change, for the audit chain. */
export interface Origin {
  readonly userId: number | null;
  readonly address: string;
  readonly requestId: string;
  /** Operation id, e.g. `groups.create`. */
  readonly operation: string;
  /** Given when the client asked for exactly-once: the reply is kept with the change. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
  /** See `TransactionOptions`. */
  readonly sharesCommit?: boolean;
  /** Where the request itself is audited, the entry of its change is that entry too. */
  readonly audit?:
    | {
        detail(): Record<string, unknown>;
        written(): void;
        /** What to throw when the entry cannot be written. */
        unwritable(cause: unknown): unknown;
      }
    | undefined;
}

/** An open change: a transaction that knows its author and what it has touched. */
export interface Change extends Executor {
  readonly now: string;
  readonly userId: number | null;
  touch(table: string, id: number): void;
  /** Adds details to the audit entry. Never a secret. */
  note(detail: Record<string, unknown>): void;
  /** Marks the audit entry as refused, with the reason. What the change wrote stays. */
  deny(detail: Record<string, unknown>): void;
  /** Runs once the change is on disk, e.g. to publish an event. */
  afterCommit(work: () => void): void;
}

const insertKey = statement((db, _: Tables['idempotencyKeys']) =>
  db.insertInto('idempotencyKeys').values(everyColumn('idempotencyKeys')),
);

const setReply = statement((db, p: { userID: number; key: string; reply: string }) =>
  db.updateTable('idempotencyKeys').set({ reply: p.reply }).where('userID', '=', p.userID).where('key', '=', p.key),
);

/** Claims the client's key before any work; the returned function stores the reply under it. */
const claimKey = async (tx: Executor, { userId, idempotency }: Origin, createdAt: string) => {
  if (idempotency === undefined || userId === null) return undefined;
  const { key, fingerprint } = idempotency;
  await insertKey.all(tx, { userID: userId, key, fingerprint, reply: '', createdAt });
  return async (sealFor: (id: string) => string) => {
    await setReply.all(tx, { userID: userId, key, reply: sealFor(`${userId}:${key}`) });
  };
};

export type RunChange = <T>(origin: Origin, work: (tx: Change) => Promise<T>) => Promise<T>;

/** Collects the audit facts and the after-commit calls of one change. */
const openChange = (tx: Executor, { userId }: Origin) => {
  const facts: Pick<AuditEntry, 'outcome' | 'targets' | 'detail'> = { outcome: 'ok', targets: {}, detail: {} };
  const after: (() => void)[] = [];
  const change: Change = {
    engine: tx.engine,
    run: tx.run,
    now: nextNow(),
    userId,
    touch: (table, id) => {
      facts.targets[table] ??= [];
      facts.targets[table].push(id);
    },
    note: (more) => {
      facts.detail = { ...facts.detail, ...more };
    },
    deny: (why) => {
      facts.outcome = 'denied';
      facts.detail = { ...facts.detail, ...why };
    },
    afterCommit: (call) => after.push(call),
  };
  return { change, facts, after };
};

/**
 * Every change goes through this function: the change, its audit entry and its idempotent reply are one transaction.
 * Changes run one after the other, so that what `work` reads stays true until it is written.
 */
export const createChange =
  (database: Database, secrets: Secrets): RunChange =>
  async (origin, work) => {
    const { sharesCommit = false } = origin;
    const { reply, after } = await database
      .transaction(
        async (tx) => {
          await lockAudit(tx);
          const { change, facts, after } = openChange(tx, origin);
          const claim = await claimKey(tx, origin, change.now);
          const reply = await work(change);
          const { userId: userID, address, requestId, operation } = origin;
          const detail = origin.audit ? { ...origin.audit.detail(), ...facts.detail } : facts.detail;
          await appendAudit(tx, secrets, {
            at: change.now,
            userID,
            address,
            requestId,
            operation,
            ...facts,
            detail,
          }).catch((error) => Promise.reject(origin.audit?.unwritable(error) ?? error));
          await claim?.((id) =>
            secrets.seal(JSON.stringify(reply ?? null), { table: 'idempotencyKeys', id, column: 'reply' }),
          );
          return { reply, after };
        },
        { sharesCommit },
      )
      .catch((error) => Promise.reject(describe(error)));
    origin.audit?.written();
    for (const call of after) call();
    return reply;
  };

let lastMs = 0;
/** A timestamp later than every one before, so that `updatedAt` differs between two changes. */
const nextNow = () => {
  lastMs = Math.max(Date.now(), lastMs + 1);
  return new Date(lastMs).toISOString();
};

/** The key of an idempotent request was used by another request at the same moment: look it up again. */
export class KeyInUse extends Error {}

const describe = (error: unknown) => {
  if (!(error instanceof UniqueViolation)) return error;
  const { column } = error;
  if (column === 'key') return new KeyInUse('idempotency key in use', { cause: error });
  return invalid([{ path: `/${column}`, code: 'DUPLICATE', message: `is taken: another record has this ${column}` }]);
};
