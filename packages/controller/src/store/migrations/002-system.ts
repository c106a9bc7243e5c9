import { createIndex, createTable, createUnique, type Migrating } from './create-table.ts';

/** The audit chain, idempotency keys, settings, notifications, projects and tasks. */
export const system = async (m: Migrating) => {
  const stamps = { createdAt: 'text', updatedAt: 'text' };

  await createTable(m, 'audit', {
    id: 'id',
    at: 'text',
    userID: 'integer?',
    address: 'text',
    requestId: 'text',
    operation: 'text',
    outcome: 'text',
    targets: 'text',
    detail: 'text',
    hash: 'text',
  });
  for (const text of appendOnly[m.engine]) await m.raw(text);
  await createTable(m, 'auditHead', { id: 'integer!', entries: 'integer', hash: 'text' });
  await m.raw(`INSERT INTO "auditHead" ("id", "entries", "hash") VALUES (1, 0, '')`);

  await createTable(m, 'idempotencyKeys', {
    userID: 'integer',
    key: 'text',
    fingerprint: 'text',
    reply: 'text',
    createdAt: 'text',
  });
  await m.raw('CREATE UNIQUE INDEX "idempotencyKeys_key_unique" ON "idempotencyKeys" ("userID", "key")');
  await createIndex(m, 'idempotencyKeys', 'createdAt');
  await createTable(m, 'settings', { id: 'integer!', value: 'text', updatedAt: 'text' });
  await createTable(m, 'notifications', {
    id: 'id',
    severity: 'text',
    kind: 'text',
    message: 'text',
    entityType: 'text?',
    entityID: 'integer?',
    audience: 'text',
    createdAt: 'text',
  });
  await createIndex(m, 'notifications', 'createdAt');

  await createTable(m, 'projects', {
    ID: 'id',
    name: 'text',
    description: 'text',
    issuerID: 'integer?',
    archivedAt: 'text?',
    ...stamps,
  });
  await createUnique(m, 'projects', 'name');
  await createTable(m, 'tasks', {
    id: 'id',
    comment: 'text',
    status: 'integer',
    error: 'text',
    projectID: 'integer?>projects.ID',
    issuerID: 'integer?',
    accessPlane: 'text',
    controlPlane: 'text',
    configuration: 'text',
    dumps: 'text',
    scheduleEnabled: 'integer',
    ...stamps,
    startedAt: 'text?',
    finishedAt: 'text?',
    deletedAt: 'text?',
  });
  await createIndex(m, 'tasks', 'projectID');
};

/** The database itself refuses to change or delete audit rows. */
const appendOnly = {
  sqlite: ['UPDATE', 'DELETE'].map(
    (verb) =>
      `CREATE TRIGGER "audit_no_${verb.toLowerCase()}" BEFORE ${verb} ON "audit" BEGIN SELECT RAISE(ABORT, 'audit is append only'); END`,
  ),
  postgres: [
    `CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'audit is append only'; END $$`,
    'CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit" FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()',
  ],
};
