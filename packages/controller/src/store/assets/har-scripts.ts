import type { Executor } from '../engine/database.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import type { Tables } from '../tables/index.ts';

const keptDays = 30;

const insert = statement((db, _: Tables['harScripts']) =>
  db
    .insertInto('harScripts')
    .values(everyColumn('harScripts'))
    .onConflict((c) => c.column('sha256').doUpdateSet((found) => ({ createdAt: found.ref('excluded.createdAt') }))),
);
const dropOld = statement((db, p: { before: string }) => db.deleteFrom('harScripts').where('createdAt', '<', p.before));
const byHash = statement((db, p: { sha256: string }) =>
  db.selectFrom('harScripts').selectAll().where('sha256', '=', p.sha256),
);

/** Stores how to make the bytes again. Every start makes new plans, so old rows are useless. */
export const keepHarScript = async (tx: Executor, script: Omit<Tables['harScripts'], 'createdAt'>) => {
  await dropOld.all(tx, { before: new Date(Date.now() - keptDays * 86_400_000).toISOString() });
  await insert.all(tx, { ...script, createdAt: new Date().toISOString() });
};
export const findHarScript = (read: Executor, sha256: string) => byHash.first(read, { sha256 });
