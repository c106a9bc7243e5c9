import type { Migrating } from './create-table.ts';

const taskKeys = ['comment', 'status', 'createdAt', 'startedAt', 'finishedAt', 'updatedAt', 'projectID'];
const fileKeys = ['name', 'size', 'category', 'createdAt', 'updatedAt', 'first_seen_at'];
const numbers = new Set(['status', 'projectID', 'size']);

/** Lists are read from an index, whatever they are sorted by, and filters find their records without a scan. */
export const listIndexes = async (m: Migrating) => {
  const isPostgres = m.engine === 'postgres';
  // Texts sort by code point.
  const sorted = (column: string) => `"${column}"${isPostgres && !numbers.has(column) ? ' COLLATE "C"' : ''}`;
  /** SQLite reads nothing but the index where the mark of deletion is a column of it; PostgreSQL where it is a condition. */
  const ofLiveTasks = (name: string, columns: string) =>
    m.raw(
      isPostgres
        ? `CREATE INDEX "tasks_${name}" ON "tasks" (${columns}) WHERE "deletedAt" IS NULL`
        : `CREATE INDEX "tasks_${name}" ON "tasks" ("deletedAt", ${columns})`,
    );
  for (const key of taskKeys) await ofLiveTasks(`${key}_list`, `${sorted(key)}, "id"`);
  await ofLiveTasks('id_list', '"id", "comment"');
  await ofLiveTasks(
    'counts',
    ['projectID', 'status', 'scheduleEnabled', 'lastRunID', 'startedAt', 'createdAt'].map((name) => `"${name}"`).join(),
  );
  const device = isPostgres ? `("device"::json ->> 'name')` : `json_extract("device", '$.name')`;
  await m.raw(`CREATE INDEX "tasks_device_index" ON "tasks" ((${device}))`);
  await m.raw('CREATE INDEX "links_used_index" ON "links" ("toKind", "toID", "fromKind", "fromID")');
  await m.raw('DROP INDEX "links_toKind_toID_index"');
  await m.raw('CREATE INDEX "notifications_audience_index" ON "notifications" ("audience", "id")');
  await m.raw('CREATE INDEX "notifications_severity_index" ON "notifications" ("audience", "severity", "id")');
  await m.raw('CREATE INDEX "notifications_unread_index" ON "notifications" ("audience", "createdAt")');
  for (const key of fileKeys) await m.raw(`CREATE INDEX "files_${key}_list" ON "files" (${sorted(key)}, "id")`);
};
