import { createTable, type Migrating } from './create-table.ts';

/** What agents play of recordings. */
export const harScripts = async (m: Migrating) => {
  await createTable(m, 'harScripts', {
    sha256: 'text!',
    fileSha256: 'text',
    params: 'text',
    side: 'text',
    createdAt: 'text',
  });
};
