import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** What tasks lacked, their schedules and imports, and templates. */
export const tasks = async (m: Migrating) => {
  const stamps = { createdAt: 'text', updatedAt: 'text' };
  await m.raw(`ALTER TABLE "tasks" ADD COLUMN "configurationSecrets" text NOT NULL DEFAULT '{}'`);
  await m.raw(`ALTER TABLE "tasks" ADD COLUMN "thresholds" text NOT NULL DEFAULT '[]'`);
  await m.raw(`ALTER TABLE "tasks" ADD COLUMN "lastRunID" ${m.engine === 'sqlite' ? 'integer' : 'bigint'}`);
  await createTable(m, 'taskSchedules', {
    taskID: 'integer!>tasks.id',
    kind: 'text',
    at: 'text?',
    cron: 'text?',
    timezone: 'text',
    startsAt: 'text?',
    endsAt: 'text?',
    maxRuns: 'integer?',
    runsMade: 'integer',
    misfire: 'text',
    onConflict: 'text',
    priority: 'integer',
    nextRunAt: 'text?',
    lastRunID: 'integer?',
    issuerID: 'integer?',
    ...stamps,
  });
  await createIndex(m, 'taskSchedules', 'nextRunAt');
  await createTable(m, 'taskImports', {
    id: 'text!',
    issuerID: 'integer',
    sha256: 'text',
    plan: 'text',
    expiresAt: 'text',
    createdAt: 'text',
  });
  await createTable(m, 'taskTemplates', {
    id: 'id',
    name: 'text',
    description: 'text',
    tags: 'text',
    task: 'text',
    parameters: 'text',
    slots: 'text',
    builtIn: 'integer',
    issuerID: 'integer?',
    ...stamps,
  });
  await createUnique(m, 'taskTemplates', 'name');
};
