import { hash } from 'node:crypto';
import type { Executor } from './database.ts';
import { everyColumn, statement } from './statement.ts';

export interface AuditEntry {
  at: string;
  userID: number | null;
  address: string;
  requestId: string;
  operation: string;
  outcome: 'ok' | 'denied' | 'failed';
  /** Ids of the records touched, by table. */
  targets: Record<string, number[]>;
  detail: Record<string, unknown>;
}

const lockHead = statement((db, _: object, engine) => {
  const head = db.selectFrom('auditHead').selectAll().where('id', '=', 1);
  return engine === 'postgres' ? head.forUpdate() : head;
});
const moveHead = statement((db, p: { entries: number; hash: string }) =>
  db.updateTable('auditHead').set({ entries: p.entries, hash: p.hash }).where('id', '=', 1),
);
const insert = statement((db, _: Stored) => db.insertInto('audit').values(everyColumn('audit')));
const pageAfter = statement((db, p: { after: number }) =>
  db.selectFrom('audit').selectAll().where('id', '>', p.after).orderBy('id').limit(1000),
);

type Stored = Omit<AuditEntry, 'targets' | 'detail'> & { id: number; targets: string; detail: string; hash: string };

/** Serializes this transaction after every earlier change, on both engines. */
export const lockAudit = (tx: Executor) => lockHead.all(tx, {});

/** Adds a row whose hash covers the row before it. The head must be locked by this transaction. */
export const appendAudit = async (tx: Executor, entry: AuditEntry) => {
  const head = await lockHead.first(tx, {});
  if (head === undefined) throw new Error('the audit chain has no head');
  const id = head.entries + 1;
  const coded = { ...entry, targets: JSON.stringify(entry.targets), detail: JSON.stringify(entry.detail) };
  const chained = hashOf(head.hash, id, coded);
  await insert.all(tx, { id, ...coded, hash: chained });
  await moveHead.all(tx, { entries: id, hash: chained });
};

/** The canonical entry is a JSON array in this fixed order. */
const hashOf = (previous: string, id: number, e: Omit<Stored, 'id' | 'hash'>) =>
  hash(
    'sha256',
    previous +
      JSON.stringify([id, e.at, e.userID, e.address, e.requestId, e.operation, e.outcome, e.targets, e.detail]),
    'hex',
  );

export interface AuditVerdict {
  entries: number;
  /** The first row that does not fit the chain, and why. */
  broken?: { id: number; reason: string };
}

/** Reads the whole chain and recomputes every hash. */
export const verifyAudit = async (executor: Executor): Promise<AuditVerdict> => {
  let previous = '';
  let entries = 0;
  for (;;) {
    const rows = (await pageAfter.all(executor, { after: entries })) as unknown as Stored[];
    for (const row of rows) {
      if (row.id !== entries + 1) return { entries, broken: { id: entries + 1, reason: 'the row is missing' } };
      if (row.hash !== hashOf(previous, row.id, row))
        return { entries, broken: { id: row.id, reason: 'the hash does not fit' } };
      entries = row.id;
      previous = row.hash;
    }
    if (rows.length === 0) break;
  }
  const head = await pageHead.first(executor, {});
  const fits = head?.entries === entries && head.hash === previous;
  return fits ? { entries } : { entries, broken: { id: entries + 1, reason: 'rows at the end are missing' } };
};

const pageHead = statement((db, _: object) => db.selectFrom('auditHead').selectAll().where('id', '=', 1));
