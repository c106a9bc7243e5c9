import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { createTable } from '../engine/table.ts';

export const macs = createTable('macs', {
  search: ['name', 'address', 'vendor', 'description', 'tags'],
  filters: { kind: (kind: string) => sql`${sql.ref('t.kind')} = ${kind}` },
});

export type StoredMac = NonNullable<Awaited<ReturnType<typeof macs.find>>>;

/** The records by id; ids without a record are left out. */
export const macsById = async (executor: Executor, ids: readonly number[]): Promise<ReadonlyMap<number, StoredMac>> => {
  if (ids.length === 0) return new Map();
  return new Map((await macs.findMany(executor, ids)).map((mac) => [mac.id, mac]));
};
