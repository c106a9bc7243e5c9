import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** Access tokens of users. */
export const accessTokens = async (m: Migrating) => {
  await createTable(m, 'accessTokens', {
    id: 'id',
    userID: 'integer>users.id',
    name: 'text',
    hash: 'text',
    prefix: 'text',
    scopes: 'text',
    expiresAt: 'text',
    createdAt: 'text',
  });
  await createUnique(m, 'accessTokens', 'hash');
  await createIndex(m, 'accessTokens', 'userID');
};
