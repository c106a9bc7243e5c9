import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../testing/postgres.ts';
import { files } from './assets/files.ts';
import type { Compiled, Executor } from './engine/database.ts';
import { samplesBetween } from './runs/samples.ts';
import { openStore, type Store } from './store.ts';
import { audiencesOf, countUnread, notificationPage } from './system/notifications.ts';
import { countTasks, deletedFilter, tasks } from './tasks/tasks.ts';

let store: Store;
let dataDir: string;

const seeded = 3000;
/** Numbers from 1 as rows. */
const numbers = () =>
  store.database.engine === 'postgres'
    ? `generate_series(1, ${seeded}) as s(i)`
    : `(with recursive c(i) as (select 1 union all select i + 1 from c where i < ${seeded}) select i from c) as s`;

const seed = () =>
  store.database.transaction(async (tx) => {
    const run = (sql: string) => tx.run({ name: '', sql }, []);
    await run(`insert into tasks (comment, status, error, "accessPlane", "controlPlane", configuration, dumps,
      "scheduleEnabled", "createdAt", "updatedAt") select 'task ' || i, 0, '', '[]', '[]', '[]', '{}', 0, '2026', '2026' from ${numbers()}`);
    await run(`insert into links select 'task', i, 'task', 'plugin', 7 from ${numbers()}`);
    await run(`insert into notifications (severity, kind, message, audience, "createdAt")
      select 'info', 'run', 'message', 'user:' || (i % 9), '2026' from ${numbers()}`);
    if (tx.engine === 'postgres') await run('analyze');
  });

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'rushhour-plans-'));
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
  await seed();
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The statements that `work` runs, with their values. */
const recorded = async (work: (executor: Executor) => Promise<unknown>) => {
  const statements: [Compiled, readonly unknown[]][] = [];
  const { engine } = store.database;
  await work({
    engine,
    run: (statement, values) => {
      statements.push([statement, values]);
      return store.database.run(statement, values);
    },
  });
  return statements;
};

/** How the database runs what `work` asks for, one text for all statements. */
const planOf = async (work: (executor: Executor) => Promise<unknown>): Promise<string> => {
  const statements = await recorded(work);
  return store.database.transaction(async (tx) => {
    const isPostgres = tx.engine === 'postgres';
    // On few rows a scan is cheaper than any index; whether there is an index to use is the question.
    if (isPostgres) await tx.run({ name: '', sql: 'set local enable_seqscan = off' }, []);
    const plans = [];
    for (const [{ sql }, values] of statements) {
      plans.push(...(await tx.run({ name: '', sql: `explain ${isPostgres ? '' : 'query plan '}${sql}` }, values)));
    }
    return plans.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n');
  });
};

const wholeTable = /SCAN (t|tasks|notifications)\b(?! USING)|Seq Scan on (tasks|notifications|files)\b/;
const page = { key: 'id', order: 'desc', limit: 20, offset: 0 } as const;
const live = deletedFilter('no');

describe('lists read an index', () => {
  it.each(['id', 'comment', 'status', 'createdAt', 'startedAt', 'finishedAt', 'updatedAt', 'projectID'])(
    'tasks by %s, without sorting them',
    async (key) => {
      const plan = await planOf((read) => tasks.rows(read, { ...page, key, offset: 2000, filters: live }));
      expect(plan).not.toMatch(wholeTable);
      // The records of the page are sorted, nothing else.
      expect(plan.match(/TEMP B-TREE FOR ORDER BY|Sort Key/g)?.length ?? 0).toBeLessThanOrEqual(1);
    },
  );

  it.each(['name', 'size', 'category', 'createdAt', 'updatedAt', 'first_seen_at'])('files by %s', async (key) => {
    expect(await planOf((read) => files.rows(read, { ...page, key }))).not.toMatch(wholeTable);
  });

  it('tasks of an agent, a plugin and a device', async () => {
    for (const filters of [{ agentID: 3 }, { pluginID: 7 }, { device: 'firewall' }]) {
      const plan = await planOf((read) => tasks.page(read, { ...page, filters: { ...filters, ...live } }));
      expect(plan).not.toMatch(wholeTable);
      // Once for the list, not once for each task.
      expect(plan).not.toMatch(/CORRELATED.*\n.*\bl\b USING|\(SubPlan/);
    }
  });

  it('counts of tasks and of what a search finds', async () => {
    expect(await planOf((read) => countTasks(read, {}))).not.toMatch(wholeTable);
    const search = { ...page, search: 'task 29', filters: live };
    expect(await planOf((read) => tasks.page(read, search))).not.toMatch(wholeTable);
    const rare = { ...page, search: 'task 2999', filters: live };
    expect(await planOf((read) => tasks.page(read, rare))).toMatch(/VIRTUAL TABLE INDEX|tasks_search_index/);
  });

  it('samples of one agent, without those of the others', async () => {
    const plan = await planOf(async (read) => {
      for await (const _ of samplesBetween(read, { runID: 1, agent: 3, fromAt: 1, toAt: 2_000_000 }))
        expect(_).toEqual([]);
    });
    // An index of a partition is named after its columns.
    expect(plan).toMatch(/runSamples_seq_unique|_runID_agentID_orderIndex/);
    expect(plan).not.toMatch(/_runID_toAt/);
  });

  it('notifications of a user', async () => {
    const audiences = audiencesOf(3, [1, 2]);
    const severity = 'info';
    for (const order of ['asc', 'desc'] as const) {
      const request = { audiences, order, limit: 20, offset: 0 };
      expect(await planOf((read) => notificationPage(read, request))).not.toMatch(wholeTable);
      expect(await planOf((read) => notificationPage(read, { ...request, severity }))).not.toMatch(wholeTable);
    }
    expect(await planOf((read) => countUnread(read, audiences, '2025'))).not.toMatch(wholeTable);
  });
});

it('pages of notifications are complete in both directions', async () => {
  const audiences = audiencesOf(3, [1, 2]);
  for (const order of ['asc', 'desc'] as const) {
    const ids: number[] = [];
    for (let offset = 0; ; offset += 50) {
      const { rows, total } = await notificationPage(store.read, { audiences, order, limit: 50, offset });
      expect(total).toBe(Math.ceil((seeded - 2) / 9));
      if (rows.length === 0) break;
      ids.push(...rows.map(({ id }) => id));
    }
    const expected = Array.from({ length: Math.ceil((seeded - 2) / 9) }, (_, i) => 3 + 9 * i);
    expect(ids).toEqual(order === 'asc' ? expected : expected.reverse());
  }
});
