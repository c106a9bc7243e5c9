import { createTable, type Migrating } from './create-table.ts';

/** Dictionaries and their rows. */
export const dictionaries = async (m: Migrating) => {
  await createTable(m, 'dictionaries', {
    id: 'id',
    name: 'text',
    description: 'text',
    type: 'text',
    tags: 'text',
    selection: 'text',
    columns: 'text',
    config: 'text',
    source: 'text',
    rowCount: 'integer',
    issuerId: 'integer?',
    createdAt: 'text',
    updatedAt: 'text',
  });
  // Two people may use the same name; the name stands last so that a violation tells it.
  await m.raw('CREATE UNIQUE INDEX "dictionaries_name_unique" ON "dictionaries" ("issuerId", "name")');
  await createTable(m, 'dictionaryRows', {
    dictionaryID: 'integer>dictionaries.id',
    block: 'integer',
    rows: 'text',
  });
  await m.raw('CREATE UNIQUE INDEX "dictionaryRows_block_unique" ON "dictionaryRows" ("dictionaryID", "block")');
};
