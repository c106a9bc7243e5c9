import { sql } from 'kysely';
import type { RecordOf } from '../engine/column.ts';
import type { Database, Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import type { tables } from '../tables/index.ts';

export type DraftRecord = RecordOf<typeof tables.aiDrafts>;

export const aiDrafts = createTable('aiDrafts', {
  filters: {
    keyID: (id: number) => sql`${sql.ref('t.keyID')} = ${id}`,
    after: (now: string) => sql`${sql.ref('t.expiresAt')} > ${now}`,
  },
});

const counted = statement((db, p: { keyID: number; now: string }) =>
  db
    .selectFrom('aiDrafts')
    .select(sql<number>`count(*)`.as('count'))
    .where('keyID', '=', p.keyID)
    .where('expiresAt', '>', p.now),
);

export const countDrafts = async (executor: Executor, keyID: number, now: string): Promise<number> =>
  Number((await counted.first(executor, { keyID, now }))?.count ?? 0);

/** A draft of this key that has not expired. */
export const findDraft = async (executor: Executor, keyID: number, id: number): Promise<DraftRecord | undefined> => {
  const draft = await aiDrafts.find(executor, id);
  return draft?.keyID === keyID && draft.expiresAt > new Date().toISOString() ? draft : undefined;
};

const sweep = statement((db, p: { now: string }) => db.deleteFrom('aiDrafts').where('expiresAt', '<=', p.now));

export const sweepDrafts = (database: Database) =>
  database.transaction((tx) => sweep.all(tx, { now: new Date().toISOString() }));
