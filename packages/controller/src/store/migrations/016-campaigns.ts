import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Campaigns that came with imported tasks. */
export const campaigns = async (m: Migrating) => {
  await createTable(m, 'campaigns', {
    id: 'integer!',
    name: 'text',
    description: 'text',
    version: 'integer',
    tags: 'text',
    parameters: 'text',
    steps: 'text',
    issuerID: 'integer?',
    createdAt: 'text',
    updatedAt: 'text',
  });
  await createIndex(m, 'campaigns', 'name');
};
