import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Who uses whom. */
export const links = async (m: Migrating) => {
  await createTable(m, 'links', {
    fromKind: 'text',
    fromID: 'integer',
    fromName: 'text',
    toKind: 'text',
    toID: 'integer',
  });
  await createIndex(m, 'links', 'fromKind', 'fromID');
  await createIndex(m, 'links', 'toKind', 'toID');
};
