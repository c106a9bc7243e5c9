import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** Applications with their parameters and sessions. */
export const applications = async (m: Migrating) => {
  await createTable(m, 'applications', {
    id: 'id',
    name: 'text',
    description: 'text',
    tags: 'text',
    mode: 'text',
    defaultSpeedMode: 'text',
    clientIp: 'text',
    allowPerSessionSpeed: 'integer',
    followTimestamps: 'integer',
    lockParameters: 'integer',
    loop: 'integer',
    baseBps: 'integer',
    basePps: 'integer',
    defaultTimeout: 'integer',
    defaultUsers: 'integer',
    timingGapThresholdMs: 'integer',
    pcapFileId: 'integer',
    trimmedPcapFileId: 'integer?',
    pcapMd5: 'text',
    issuerId: 'integer?',
    createdAt: 'text',
    updatedAt: 'text',
  });
  await createUnique(m, 'applications', 'name');
  const member = { id: 'id', applicationId: 'integer>applications.id', position: 'integer' };
  await createTable(m, 'applicationParameters', { ...member, content: 'text' });
  await createTable(m, 'applicationSessions', { ...member, protocol: 'text', content: 'text' });
  await createIndex(m, 'applicationParameters', 'applicationId', 'position');
  await createIndex(m, 'applicationSessions', 'applicationId', 'position');
};
