import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** Files and what is known of the captures among them. */
export const files = async (m: Migrating) => {
  await createTable(m, 'files', {
    id: 'id',
    name: 'text',
    category: 'text',
    kind: 'text',
    mime: 'text',
    size: 'integer',
    md5: 'text',
    sha1: 'text',
    sha256: 'text',
    sha3_384: 'text',
    original_sha256: 'text',
    source: 'text',
    tags: 'text',
    state: 'text',
    problem: 'text',
    first_seen_at: 'text',
    upload: 'text?',
    expiresAt: 'text?',
    issuerID: 'integer?',
    createdAt: 'text',
    updatedAt: 'text',
  });
  for (const hash of ['md5', 'sha1', 'sha256', 'sha3_384', 'original_sha256']) await createIndex(m, 'files', hash);
  await createIndex(m, 'files', 'state');
  await createTable(m, 'captures', { sha256: 'text', info: 'text' });
  await createUnique(m, 'captures', 'sha256');
  await createTable(m, 'captureSessions', { sha256: 'text', block: 'integer', sessions: 'text' });
  await m.raw('CREATE UNIQUE INDEX "captureSessions_block_unique" ON "captureSessions" ("sha256", "block")');
};
