import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Runs, their agents, events and samples. */
export const runs = async (m: Migrating) => {
  await createTable(m, 'runs', {
    id: 'id',
    taskID: 'integer>tasks.id',
    number: 'integer',
    status: 'integer',
    stopReason: 'text',
    endStatus: 'integer?',
    stopMode: 'text',
    verdict: 'integer',
    validity: 'text',
    health: 'text',
    comment: 'text',
    labels: 'text',
    startedBy: 'integer?',
    origin: 'text',
    priority: 'integer',
    notBefore: 'text?',
    queuedAt: 'text',
    startedAt: 'text?',
    finishedAt: 'text?',
    deadlineAt: 'text?',
    t0: 'integer?',
    plannedSec: 'integer?',
    pausedAt: 'text?',
    pausedMs: 'integer',
    epoch: 'integer',
    attempt: 'integer',
    definition: 'text',
    definitionSecrets: 'text',
    definitionHash: 'text',
    thresholds: 'text',
    agentLossPolicy: 'text',
    summary: 'text',
    pinned: 'integer',
    expiresAt: 'text?',
    error: 'text',
    createdAt: 'text',
    updatedAt: 'text',
  });
  await createIndex(m, 'runs', 'taskID', 'number');
  await createIndex(m, 'runs', 'status');
  // The database itself keeps a task from having two active runs.
  await m.raw('CREATE UNIQUE INDEX "runs_active_unique" ON "runs" ("taskID") WHERE "status" BETWEEN 1 AND 6');
  await createTable(m, 'runAgents', {
    runID: 'integer>runs.id',
    agentID: 'integer',
    name: 'text',
    role: 'text',
    state: 'text',
    bootId: 'text',
    orders: 'text',
    error: 'text',
    updatedAt: 'text',
  });
  await m.raw('CREATE UNIQUE INDEX "runAgents_agent_unique" ON "runAgents" ("runID", "agentID")');
  await createIndex(m, 'runAgents', 'agentID');
  await createTable(m, 'runEvents', {
    runID: 'integer>runs.id',
    seq: 'integer',
    ts: 'text',
    type: 'text',
    severity: 'text',
    agentID: 'integer?',
    source: 'text',
    message: 'text',
    data: 'text',
  });
  await m.raw('CREATE UNIQUE INDEX "runEvents_seq_unique" ON "runEvents" ("runID", "seq")');
  await createTable(m, 'runSamples', {
    runID: 'integer>runs.id',
    agentID: 'integer',
    orderIndex: 'integer',
    fromSeq: 'integer',
    toSeq: 'integer',
    fromAt: 'integer',
    toAt: 'integer',
    isBlock: 'integer',
    data: 'bytes',
  });
  await m.raw(
    'CREATE UNIQUE INDEX "runSamples_seq_unique" ON "runSamples" ("runID", "agentID", "orderIndex", "fromSeq")',
  );
  await createIndex(m, 'runSamples', 'runID', 'toAt');
  await m.raw('CREATE INDEX "runSamples_loose_index" ON "runSamples" ("runID") WHERE "isBlock" = 0');
  await createTable(m, 'runNames', { runID: 'integer>runs.id', number: 'integer', name: 'text' });
  await m.raw('CREATE UNIQUE INDEX "runNames_number_unique" ON "runNames" ("runID", "number")');
};
