import { createTable, type Migrating } from './create-table.ts';

/** Lists with many records read how many there are instead of counting them. Triggers keep the counts, whatever changes the records. */
export const keptCounts = async (m: Migrating) => {
  await keepVerdicts(m);
  await createTable(m, 'taskCounts', {
    projectID: 'integer',
    status: 'integer',
    verdict: 'integer',
    scheduled: 'integer',
    count: 'integer',
  });
  await createTable(m, 'notificationCounts', {
    audience: 'text',
    severity: 'text',
    block: 'integer',
    count: 'integer',
    oldest: 'text',
    newest: 'text',
  });
  await m.raw(
    `INSERT INTO "taskCounts" SELECT ${taskKey('t')}, count(*) FROM "tasks" AS t WHERE t."deletedAt" IS NULL GROUP BY 1, 2, 3, 4`,
  );
  await m.raw(`INSERT INTO "notificationCounts" ${blocksOf('"notifications"', 1)}`);
  for (const text of m.engine === 'postgres' ? onPostgres : onSqlite) await m.raw(text);
};

/** The verdict of the newest run becomes a member of the task, so that counting tasks does not read runs. */
const keepVerdicts = async (m: Migrating) => {
  await m.raw(
    `ALTER TABLE "tasks" ADD COLUMN "verdict" ${m.engine === 'sqlite' ? 'integer' : 'bigint'} NOT NULL DEFAULT 0`,
  );
  await m.raw(
    `UPDATE "tasks" SET "verdict" = coalesce((SELECT r."verdict" FROM "runs" AS r WHERE r."id" = "tasks"."lastRunID"), 0) WHERE "lastRunID" IS NOT NULL`,
  );
  await m.raw('DROP INDEX "tasks_counts"');
  const columns = '"projectID", "status", "scheduleEnabled", "verdict", "startedAt", "createdAt"';
  await m.raw(
    m.engine === 'postgres'
      ? `CREATE INDEX "tasks_counts" ON "tasks" (${columns}) WHERE "deletedAt" IS NULL`
      : `CREATE INDEX "tasks_counts" ON "tasks" ("deletedAt", ${columns})`,
  );
};

const taskKey = (row: string) =>
  `coalesce(${row}."projectID", 0), ${row}."status", ${row}."verdict", ${row}."scheduleEnabled"`;

/** Notifications are counted in blocks of consecutive ids, so that a page far behind is found without reading those before it. */
const blockOf = (id: string) => `${id} / 4096`;
const blocksOf = (rows: string, sign: 1 | -1) =>
  `SELECT "audience", "severity", ${blockOf('"id"')}, ${sign} * count(*), min("createdAt"), max("createdAt") FROM ${rows} GROUP BY 1, 2, 3`;

const countTask = (row: string, sign: string) =>
  `INSERT INTO "taskCounts" SELECT ${taskKey(row)}, 1 WHERE ${row}."deletedAt" IS NULL
   ON CONFLICT ("projectID", "status", "verdict", "scheduled") DO UPDATE SET "count" = "count" ${sign} 1;`;
const counted = '"status", "verdict", "scheduleEnabled", "projectID", "deletedAt"';

/** One connection writes: counts are changed where they stand. */
const onSqlite = [
  'CREATE UNIQUE INDEX "taskCounts_key_unique" ON "taskCounts" ("projectID", "status", "verdict", "scheduled")',
  'CREATE UNIQUE INDEX "notificationCounts_key_unique" ON "notificationCounts" ("audience", "severity", "block")',
  `CREATE TRIGGER "tasks_counts_insert" AFTER INSERT ON "tasks" BEGIN ${countTask('new', '+')} END`,
  `CREATE TRIGGER "tasks_counts_delete" AFTER DELETE ON "tasks" BEGIN ${countTask('old', '-')} END`,
  `CREATE TRIGGER "tasks_counts_update" AFTER UPDATE OF ${counted} ON "tasks" BEGIN ${countTask('old', '-')} ${countTask('new', '+')} END`,
  `CREATE TRIGGER "runs_verdict_update" AFTER UPDATE OF "verdict" ON "runs" WHEN new."verdict" <> old."verdict" BEGIN
     UPDATE "tasks" SET "verdict" = new."verdict" WHERE "id" = new."taskID" AND "lastRunID" = new."id"; END`,
  `CREATE TRIGGER "notifications_counts_insert" AFTER INSERT ON "notifications" BEGIN
     INSERT INTO "notificationCounts" VALUES (new."audience", new."severity", ${blockOf('new."id"')}, 1, new."createdAt", new."createdAt")
     ON CONFLICT ("audience", "severity", "block") DO UPDATE SET "count" = "count" + 1,
       "oldest" = min("oldest", excluded."oldest"), "newest" = max("newest", excluded."newest"); END`,
  `CREATE TRIGGER "notifications_counts_delete" AFTER DELETE ON "notifications" BEGIN
     UPDATE "notificationCounts" SET "count" = "count" - 1
       WHERE "audience" = old."audience" AND "severity" = old."severity" AND "block" = ${blockOf('old."id"')};
     DELETE FROM "notificationCounts" WHERE "count" = 0
       AND "audience" = old."audience" AND "severity" = old."severity" AND "block" = ${blockOf('old."id"')}; END`,
];

const postgresTrigger = (table: string, name: string, body: string, ...events: [string, string][]) => [
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$`,
  ...events.map(
    ([event, rows]) =>
      `CREATE TRIGGER ${name} AFTER ${event} ON "${table}" REFERENCING ${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`,
  ),
];
const taskChanges = (...sources: [string, 1 | -1][]) => {
  const parts = sources.map(
    ([rows, sign]) => `SELECT ${taskKey('t')}, ${sign} AS "count" FROM ${rows} AS t WHERE t."deletedAt" IS NULL`,
  );
  return `INSERT INTO "taskCounts" SELECT c."projectID", c."status", c."verdict", c."scheduled", sum(c."count")
    FROM (${parts.join(' UNION ALL ')}) AS c("projectID", "status", "verdict", "scheduled", "count")
    GROUP BY 1, 2, 3, 4 HAVING sum(c."count") <> 0;`;
};
const newRows: [string, string] = ['INSERT', 'NEW TABLE AS new_rows'];
const oldRows: [string, string] = ['DELETE', 'OLD TABLE AS old_rows'];
const bothRows: [string, string] = ['UPDATE', 'OLD TABLE AS old_rows NEW TABLE AS new_rows'];

/**
 * Several transactions write at once: each adds rows with what it changes, because they would wait for each other at a
 * common one. A chore adds them up.
 */
const onPostgres = [
  'CREATE INDEX "notificationCounts_audience_index" ON "notificationCounts" ("audience", "block")',
  ...postgresTrigger('tasks', 'tasks_counts_insert', taskChanges(['new_rows', 1]), newRows),
  ...postgresTrigger('tasks', 'tasks_counts_delete', taskChanges(['old_rows', -1]), oldRows),
  ...postgresTrigger('tasks', 'tasks_counts_update', taskChanges(['old_rows', -1], ['new_rows', 1]), bothRows),
  `CREATE FUNCTION runs_verdict_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     UPDATE "tasks" SET "verdict" = new."verdict" WHERE "id" = new."taskID" AND "lastRunID" = new."id"; RETURN NULL; END $$`,
  `CREATE TRIGGER runs_verdict_update AFTER UPDATE OF "verdict" ON "runs" FOR EACH ROW
     WHEN (new."verdict" <> old."verdict") EXECUTE FUNCTION runs_verdict_update()`,
  ...postgresTrigger(
    'notifications',
    'notifications_counts_insert',
    `INSERT INTO "notificationCounts" ${blocksOf('new_rows', 1)};`,
    newRows,
  ),
  ...postgresTrigger(
    'notifications',
    'notifications_counts_delete',
    `INSERT INTO "notificationCounts" ${blocksOf('old_rows', -1)};`,
    oldRows,
  ),
];
