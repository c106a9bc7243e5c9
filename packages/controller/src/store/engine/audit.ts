import { hash } from 'node:crypto';
import { canonicalJson } from '../../canonical-json.ts';
import type { Database, Executor } from './database.ts';
import type { Secrets } from './secrets.ts';
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

/** Adds a row whose keyed hash covers the row before it. The head must be locked by this transaction. */
export const appendAudit = async (tx: Executor, secrets: Pick<Secrets, 'derive'>, entry: AuditEntry) => {
  const head = await lockHead.first(tx, {});
  if (head === undefined) throw new Error('the audit chain has no head');
  const id = head.entries + 1;
  const coded = { ...entry, targets: JSON.stringify(entry.targets), detail: JSON.stringify(entry.detail) };
  const chained = keyedHashOf(secrets, coveredText(head.hash, id, coded));
  await insert.all(tx, { id, ...coded, hash: chained });
  await moveHead.all(tx, { entries: id, hash: chained });
};

/** The hash before it, and the entry as a JSON array in this fixed order. */
const coveredText = (previous: string, id: number, e: Omit<Stored, 'id' | 'hash'>) =>
  previous + JSON.stringify([id, e.at, e.userID, e.address, e.requestId, e.operation, e.outcome, e.targets, e.detail]);

/** Without the installation's key a row cannot be replaced by another that fits. */
const keyedHashOf = ({ derive }: Pick<Secrets, 'derive'>, covered: string) =>
  `hmac:${derive('audit', covered).toString('hex')}`;

/** The end of the part of the chain that earlier builds wrote without a key. */
interface Anchor {
  readonly entries: number;
  readonly hash: string;
}

const anchorLocation = { table: 'installation', id: 'auditAnchor', column: 'value' };
const findAnchor = statement((db, _: object) =>
  db.selectFrom('installation').select('value').where('name', '=', 'auditAnchor'),
);
const insertAnchor = statement((db, p: { value: string }) =>
  db.insertInto('installation').values({ name: 'auditAnchor', value: p.value }),
);

/** Seals the present end of the chain at the first start of a build that keys its entries. */
export const anchorAudit = async (database: Database, secrets: Secrets) => {
  if ((await findAnchor.first(database, {})) !== undefined) return;
  await database.transaction(async (tx) => {
    const head = await lockHead.first(tx, {});
    if ((await findAnchor.first(tx, {})) !== undefined) return;
    const anchor: Anchor = { entries: head?.entries ?? 0, hash: head?.hash ?? '' };
    await insertAnchor.all(tx, { value: secrets.seal(JSON.stringify(anchor), anchorLocation) });
  });
};

const readAnchor = async (executor: Executor, secrets: Secrets): Promise<Anchor | undefined> => {
  const row = await findAnchor.first(executor, {});
  try {
    return row && (JSON.parse(secrets.open(row.value, anchorLocation)) as Anchor);
  } catch {
    return undefined;
  }
};

/** The state of the chain at one time, to be kept outside of the database. */
export interface AuditCheckpoint {
  readonly at: string;
  readonly entries: number;
  readonly hash: string;
  /** Keyed hash of the other members. */
  readonly mac: string;
}

const macOf = ({ derive }: Pick<Secrets, 'derive'>, { mac: _, ...covered }: AuditCheckpoint) =>
  derive('audit checkpoint', canonicalJson(covered)).toString('hex');

/** The present state of the chain. */
export const takeCheckpoint = async (executor: Executor, secrets: Secrets): Promise<AuditCheckpoint> => {
  const head = await pageHead.first(executor, {});
  const { entries = 0, hash: newest = '' } = head ?? {};
  const draft = { at: new Date().toISOString(), entries, hash: newest, mac: '' };
  return { ...draft, mac: macOf(secrets, draft) };
};

export interface AuditVerdict {
  entries: number;
  /** The first row that does not fit the chain, and why. */
  broken?: { id: number; reason: string };
}

const pageHead = statement((db, _: object) => db.selectFrom('auditHead').selectAll().where('id', '=', 1));

/** Compares rows with the hashes that the chain, the anchor and the checkpoints require. */
const createRowCheck = (secrets: Secrets, anchor: Anchor, checkpoints: readonly AuditCheckpoint[]) => {
  const expected = new Map(checkpoints.map(({ entries, hash: newest }) => [entries, newest]));
  return (row: Stored, previous: string): string | undefined => {
    const covered = coveredText(previous, row.id, row);
    const fitting = row.id <= anchor.entries ? hash('sha256', covered, 'hex') : keyedHashOf(secrets, covered);
    if (row.hash !== fitting) return 'the hash does not fit';
    if (row.id === anchor.entries && row.hash !== anchor.hash) return 'the hash is not that of the sealed anchor';
    const kept = expected.get(row.id);
    return kept === undefined || kept === row.hash ? undefined : 'the hash is not that of a checkpoint';
  };
};

const walkChain = async (executor: Executor, problemOf: ReturnType<typeof createRowCheck>) => {
  let previous = '';
  let entries = 0;
  const broken = (id: number, reason: string) => ({ entries, previous, broken: { id, reason } });
  for (;;) {
    const rows = (await pageAfter.all(executor, { after: entries })) as unknown as Stored[];
    for (const row of rows) {
      if (row.id !== entries + 1) return broken(entries + 1, 'the row is missing');
      const problem = problemOf(row, previous);
      if (problem !== undefined) return broken(row.id, problem);
      entries = row.id;
      previous = row.hash;
    }
    if (rows.length === 0) return { entries, previous, broken: undefined };
  }
};

/** Reads the whole chain, recomputes every hash and compares it with the checkpoints. */
export const verifyAudit = async (
  executor: Executor,
  secrets: Secrets,
  checkpoints: readonly AuditCheckpoint[] = [],
): Promise<AuditVerdict> => {
  const anchor = await readAnchor(executor, secrets);
  if (anchor === undefined) {
    return { entries: 0, broken: { id: 1, reason: 'the sealed anchor is missing or was changed' } };
  }
  const forged = checkpoints.find((checkpoint) => checkpoint.mac !== macOf(secrets, checkpoint));
  if (forged)
    return {
      entries: 0,
      broken: { id: forged.entries, reason: 'a checkpoint was changed or is of another installation' },
    };
  const { entries, previous, broken } = await walkChain(executor, createRowCheck(secrets, anchor, checkpoints));
  if (broken) return { entries, broken };
  const head = await pageHead.first(executor, {});
  const kept = Math.max(anchor.entries, ...checkpoints.map((checkpoint) => checkpoint.entries));
  const isWhole = head?.entries === entries && head.hash === previous && entries >= kept;
  return isWhole ? { entries } : { entries, broken: { id: entries + 1, reason: 'rows at the end are missing' } };
};
