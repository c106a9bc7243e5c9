import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** Agents, the tokens they join with, their health, logs and files. */
export const agents = async (m: Migrating) => {
  await createTable(m, 'agents', {
    id: 'id',
    uuid: 'text',
    name: 'text',
    hostname: 'text',
    machineId: 'text',
    version: 'text',
    publicKey: 'text',
    bootId: 'text',
    status: 'integer',
    isBlocked: 'integer',
    tags: 'text',
    comment: 'text',
    addresses: 'text',
    os: 'text',
    kernel: 'text',
    arch: 'text',
    cpuCores: 'integer',
    memoryMb: 'integer',
    clockOffsetMs: 'real',
    roundTripMs: 'real',
    interfaces: 'text',
    engines: 'text',
    system: 'text',
    maxConcurrentTasks: 'integer',
    maxBps: 'integer',
    reservedBy: 'integer?',
    reservedReason: 'text',
    reservedUntil: 'text?',
    fence: 'integer',
    needsReset: 'integer',
    enrolledAt: 'text',
    lastSeenAt: 'text?',
    issuerID: 'integer?',
    createdAt: 'text',
    updatedAt: 'text',
    deletedAt: 'text?',
  });
  await createUnique(m, 'agents', 'uuid', 'live');
  await createUnique(m, 'agents', 'name', 'live');
  await createTable(m, 'agentTokens', {
    id: 'id',
    name: 'text',
    hash: 'text',
    usesLeft: 'integer',
    expiresAt: 'text',
    tags: 'text',
    issuerID: 'integer?',
    createdAt: 'text',
  });
  await createUnique(m, 'agentTokens', 'hash');
  await createTable(m, 'agentHealth', { agentID: 'integer', at: 'integer', health: 'text' });
  await createIndex(m, 'agentHealth', 'agentID', 'at');
  await createTable(m, 'agentLogs', {
    id: 'id',
    agentID: 'integer',
    runID: 'integer?',
    ts: 'integer',
    level: 'text',
    source: 'text',
    message: 'text',
  });
  await createIndex(m, 'agentLogs', 'agentID', 'ts');
  await createIndex(m, 'agentLogs', 'runID', 'ts');
  await createTable(m, 'agentFiles', {
    agentID: 'integer',
    sha256: 'text',
    state: 'text',
    bytes: 'integer',
    error: 'text',
    updatedAt: 'text',
  });
  await m.raw('CREATE UNIQUE INDEX "agentFiles_file_unique" ON "agentFiles" ("agentID", "sha256")');
};
