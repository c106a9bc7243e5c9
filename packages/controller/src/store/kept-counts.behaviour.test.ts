import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase } from '../testing/postgres.ts';
import { files } from './assets/files.ts';
import { foldCounts } from './engine/kept-counts.ts';
import { openStore, type Store } from './store.ts';
import { audiencesOf, countUnread, notificationPage, unreadPage } from './system/notifications.ts';
import { countTasks, deletedFilter, tasks } from './tasks/tasks.ts';

let store: Store;
let dataDir: string;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'rushhour-counts-'));
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const run = (sql: string) => store.database.transaction((tx) => tx.run({ name: '', sql }, []));
const numberOf = async (sql: string) => Number((await run(sql))[0]?.['n']);
const numbers = (count: number) =>
  store.database.engine === 'postgres'
    ? `generate_series(1, ${count}) as s(i)`
    : `(with recursive c(i) as (select 1 union all select i + 1 from c where i < ${count}) select i from c) as s`;
const page = { key: 'id', order: 'desc', limit: 20, offset: 0 } as const;

const insertTasks = `insert into tasks (comment, status, error, "accessPlane", "controlPlane", configuration, dumps,
  "scheduleEnabled", "createdAt", "updatedAt") select 'task ' || i, i % 4, '', '[]', '[]', '[]', '{}', i % 2, '2026', '2026' from ${'$numbers'}`;
const insertRun = `insert into runs (id, "taskID", number, status, "stopReason", "stopMode", verdict, validity, health, comment, labels, origin,
  priority, "queuedAt", "startedAt", "finishedAt", t0, "pausedMs", epoch, attempt, definition, "definitionSecrets",
  "definitionHash", capture, thresholds, "agentLossPolicy", summary, pinned, error, "createdAt", "updatedAt")
  values (500, 7, 1, 7, '', '', 0, '{}', 'ok', '', '{}', 'user', 5, '', '', '', 1, 0, 0, 1, '{}', '{}', '', '{}', '[]', 'auto',
  '{}', 0, '', '2026', '2026')`;

/** The kept counts of tasks and those that reading all tasks gives. */
const expectTaskCounts = async () => {
  const kept = await countTasks(store.read, {});
  const read = await countTasks(store.read, { from: '' });
  const inOrder = (rows: typeof kept) =>
    rows.map((row) => `${row.status} ${row.verdict} ${row.scheduled}: ${Number(row.count)}`).sort();
  expect(inOrder(kept)).toEqual(inOrder(read));
  const filters = { ...deletedFilter('no'), status: '[1,2]' };
  const expected = await numberOf('select count(*) as n from tasks where "deletedAt" is null and status in (1, 2)');
  expect(await tasks.count(store.database, { ...page, filters })).toBe(expected);
};

it('counts of tasks follow every change, and survive being added up', async () => {
  await run(insertTasks.replace('$numbers', numbers(60)));
  await run(insertRun);
  const changes = [
    'update tasks set status = 2 where id % 3 = 0',
    'update tasks set "lastRunID" = 500 where id = 7',
    'update runs set verdict = 2 where id = 500',
    `update tasks set "deletedAt" = '2026' where id % 5 = 0`,
    'update tasks set "deletedAt" = null where id = 10',
    'update tasks set "scheduleEnabled" = 1 - "scheduleEnabled"',
    'delete from tasks where id % 7 = 2',
    'update tasks set comment = comment',
  ];
  for (const change of changes) {
    await run(change);
    await expectTaskCounts();
    if (change.includes('verdict')) expect((await tasks.find(store.database, 7))?.verdict).toBe(2);
    await foldCounts(store.database);
    await expectTaskCounts();
  }
  expect(await numberOf('select count(*) as n from "taskCounts"')).toBeLessThan(20);
});

const count = 10_000;
it('pages and counts of notifications are exact over blocks of ids with gaps', async () => {
  await run(`insert into notifications (severity, kind, message, audience, "createdAt")
    select case when i % 10 = 0 then 'error' else 'info' end, 'run', 'message', 'user:' || (i % 3),
    '2026-' || (10 + i / 1000) from ${numbers(count)}`);
  await run('delete from notifications where id % 11 = 0 or id between 3000 and 9000');
  await foldCounts(store.database);
  await run('delete from notifications where id % 13 = 0');
  const audiences = audiencesOf(1, [1, 2]);
  const all = (await run(
    `select id, severity, "createdAt" from notifications where audience = 'user:1' order by id`,
  )) as {
    id: number;
    severity: string;
    createdAt: string;
  }[];
  for (const severity of [undefined, 'error'] as const) {
    const expected = all.filter((row) => severity === undefined || row.severity === severity);
    for (const order of ['asc', 'desc'] as const) {
      const ids: number[] = [];
      for (let offset = 0; ; offset += 70) {
        const request = { audiences, severity, order, limit: 70, offset };
        const { rows, total } = await notificationPage(store.read, request);
        expect(total).toBe(expected.length);
        ids.push(...rows.map(({ id }) => id));
        if (offset >= total) break;
      }
      const wanted = expected.map(({ id }) => id);
      expect(ids).toEqual(order === 'asc' ? wanted : wanted.toReversed());
    }
  }
  for (const at of ['', '2026-10', '2026-12', '2026-19', '2026-20']) {
    const unread = all.filter(({ createdAt }) => createdAt > at);
    expect(await countUnread(store.read, audiences, at)).toBe(unread.length);
    const errors = { audiences, severity: 'error', order: 'asc', limit: 5, offset: 0, after: at } as const;
    const { rows, total } = await unreadPage(store.read, errors);
    const wanted = unread.filter(({ severity }) => severity === 'error').map(({ id }) => id);
    expect([rows.map(({ id }) => id), total]).toEqual([wanted.slice(0, 5), wanted.length]);
  }
});

it('searches find the same with their index as without it, whatever the case, the characters and the changes', async () => {
  const names = ['Report "A" AND b.pcap', 'repört.pcap', 'REPORT_100%.txt', 'ab', 'rep ort', 'x'];
  const insert = (name: string) =>
    run(`insert into files (name, category, kind, mime, size, md5, sha1, sha256, sha3_384, original_sha256, source, tags, state,
      problem, "first_seen_at", "createdAt", "updatedAt") values ('${name}', 'other', 'binary', 'text/plain', 1, '', '', '', '', '', 'upload',
      'tag-${name.length}', 'ready', '', '2026', '2026', '2026')`);
  for (const name of names) await insert(name);
  await run(`update files set name = 'renamed.bin' where name = 'x'`);
  await run(`delete from files where name = 'rep ort'`);
  const kept = [...names.filter((name) => name !== 'rep ort' && name !== 'x'), 'renamed.bin'];
  for (const search of [
    'report',
    'REPORT',
    '"A" and',
    'repö',
    '100%',
    '_1',
    'ab',
    'named',
    'x',
    'tag-2',
    'plain',
    'zzz',
  ]) {
    const found = await files.page(store.database, { ...page, search });
    const fold = search.toLowerCase();
    const expected = kept.filter((name) =>
      [name, `tag-${name === 'renamed.bin' ? 1 : name.length}`, 'text/plain'].some((text) =>
        text.toLowerCase().includes(fold),
      ),
    );
    expect(found.rows.map(({ name }) => name).sort()).toEqual(expected.sort());
    expect(found.total).toBe(expected.length);
  }
});
