import type { ImportPlan } from '@rushhour/contract';
import { isContentUsed } from '../assets/files.ts';
import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import type { Tables } from '../tables/index.ts';

/** An archive that waits for its mapping. Its content is a blob of its own, no file. */
export interface TaskImport {
  readonly id: string;
  readonly issuerID: number;
  readonly sha256: string;
  readonly plan: ImportPlan;
  readonly expiresAt: string;
  readonly createdAt: string;
}

const insertRow = statement((db, _: Tables['taskImports']) =>
  db.insertInto('taskImports').values(everyColumn('taskImports')),
);
const byId = statement((db, p: { id: string }) => db.selectFrom('taskImports').selectAll().where('id', '=', p.id));
const byContent = statement((db, p: { sha256: string }) =>
  db.selectFrom('taskImports').select('id').where('sha256', '=', p.sha256).limit(1),
);
const remove = statement((db, p: { id: string }) => db.deleteFrom('taskImports').where('id', '=', p.id));
const expired = statement((db, p: { now: string }) =>
  db
    .updateTable('taskImports')
    .set({ sha256: '', plan: '{}' })
    .where('expiresAt', '<=', p.now)
    .where('sha256', '<>', '')
    .returning(['id']),
);
const contentsOf = statement((db, p: { now: string }) =>
  db.selectFrom('taskImports').select('sha256').where('expiresAt', '<=', p.now).where('sha256', '<>', ''),
);
const forgotten = statement((db, p: { before: string }) =>
  db.deleteFrom('taskImports').where('expiresAt', '<=', p.before),
);

export const insertTaskImport = (tx: Change, { plan, ...row }: TaskImport) =>
  insertRow.all(tx, { ...row, plan: JSON.stringify(plan) });

export const findTaskImport = async (executor: Executor, id: string): Promise<TaskImport | undefined> => {
  const row = await byId.first(executor, { id });
  return row && { ...row, plan: JSON.parse(row.plan) as ImportPlan };
};

export const removeTaskImport = (tx: Change, id: string) => remove.all(tx, { id });

/** Whether any file or waiting archive has this content. */
export const isContentKept = async (executor: Executor, sha256: string) =>
  (await isContentUsed(executor, sha256)) || (await byContent.first(executor, { sha256 })) !== undefined;

const keepMs = 24 * 3_600_000;

/** The contents of imports that are over. Their rows stay for a day, to tell that they are. */
export const expireTaskImports = async (tx: Change): Promise<string[]> => {
  const over = await contentsOf.all(tx, { now: tx.now });
  if (over.length > 0) await expired.all(tx, { now: tx.now });
  return [...new Set(over.map(({ sha256 }) => sha256))];
};

export const hasExpiredImports = async (executor: Executor, now: string) =>
  (await contentsOf.first(executor, { now })) !== undefined;

export const forgetTaskImports = (tx: Executor, now: Date) =>
  forgotten.all(tx, { before: new Date(now.getTime() - keepMs).toISOString() });
