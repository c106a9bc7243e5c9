import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Attempts of security tests, what both ends told of them, and what became of each. */
export const attackResults = async (m: Migrating) => {
  await createTable(m, 'runAttempts', {
    runID: 'integer>runs.id',
    sha256: 'text',
    orders: 'text',
    policy: 'text',
    size: 'integer',
    data: 'bytes',
  });
  await createIndex(m, 'runAttempts', 'runID');
  await createIndex(m, 'runAttempts', 'sha256');
  await createTable(m, 'runRecords', {
    runID: 'integer>runs.id',
    agentID: 'integer',
    orderIndex: 'integer',
    seq: 'integer',
    data: 'bytes',
  });
  await m.raw('CREATE UNIQUE INDEX "runRecords_seq_unique" ON "runRecords" ("runID", "agentID", "orderIndex", "seq")');
  await createTable(m, 'attackResults', {
    id: 'id',
    taskID: 'integer',
    runID: 'integer>runs.id',
    iteration: 'integer',
    kind: 'text',
    refID: 'integer',
    refName: 'text',
    variant: 'text',
    category: 'text',
    attemptID: 'text',
    expected: 'text',
    severity: 'text',
    techniques: 'text',
    direction: 'text',
    client: 'text',
    server: 'text',
    outcome: 'text',
    mechanism: 'text?',
    detected: 'text',
    alerts: 'text',
    confidence: 'text',
    reason: 'text',
    control: 'text',
    device: 'text',
    startedAt: 'text',
    durationMs: 'real',
    excerpt: 'text',
  });
  await createIndex(m, 'attackResults', 'runID');
  await createIndex(m, 'attackResults', 'kind', 'refID', 'startedAt');
  await createIndex(m, 'attackResults', 'taskID');
};
