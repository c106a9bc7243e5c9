/**
 * Lists and searches over many records, on both databases or the one that the argument names: the slowest of a hundred
 * answers, and who waits meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { openStore } from '../packages/controller/src/store/store.ts';
import { startPostgres } from '../scripts/postgres.ts';
import { spawnController } from '../tests/process/spawn-controller.ts';
import { makeRecords } from './many-records.ts';
import { takePriority } from './priority.ts';
import { type Row, report } from './report.ts';
import { p99, timesOf, watchLife } from './watch-life.ts';

const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };
const counts = { tasks: 100_000, notifications: 1_000_000, files: 50_000, runs: 10_000 };
const samples = 100;
const lists: [string, (client: Client) => Promise<unknown>][] = [
  ['tasks', (client) => client.tasks.list({ query: { count: 50 } })],
  ['tasks, page 1000', (client) => client.tasks.list({ query: { count: 50, page: 1000 } })],
  ['tasks by comment', (client) => client.tasks.list({ query: { count: 50, key: 'comment', page: 500 } })],
  ['tasks of a status', (client) => client.tasks.list({ query: { count: 50, status: '7,8' } })],
  ['tasks of a plugin', (client) => client.tasks.list({ query: { count: 50, pluginID: 3 } })],
  ['tasks found', (client) => client.tasks.list({ query: { count: 50, search: 'task 9999' } })],
  ['counts of tasks', (client) => client.tasks.counters({})],
  ['notifications', (client) => client.notifications.list({ query: { count: 50 } })],
  ['notifications, page 1000', (client) => client.notifications.list({ query: { count: 50, page: 1000 } })],
  ['errors', (client) => client.notifications.list({ query: { count: 50, severity: 'error' } })],
  ['the user', (client) => client.users.me({})],
  ['files', (client) => client.files.list({ query: { count: 50 } })],
  ['files, page 500', (client) => client.files.list({ query: { count: 50, page: 500 } })],
  ['files found', (client) => client.files.list({ query: { count: 50, search: 'file 4999' } })],
  ['runs', (client) => client.tasks.runs({ params: { id: 1 }, query: { count: 50 } })],
  ['runs, page 100', (client) => client.tasks.runs({ params: { id: 1 }, query: { count: 50, page: 100 } })],
];

const overview = (client: Client) =>
  Promise.all([
    client.tasks.counters({}),
    client.tasks.list({ query: { count: 20 } }),
    client.notifications.list({ query: { count: 20 } }),
    client.agents.list({}),
    client.users.me({}),
  ]);

const measure = async (engine: 'sqlite' | 'postgres'): Promise<Row[]> => {
  await using open = new AsyncDisposableStack();
  const dataDir = open.adopt(mkdtempSync(join(tmpdir(), 'rushhour-bench-')), (dir) => rmSync(dir, { recursive: true }));
  const postgres = engine === 'postgres' ? open.adopt(await startPostgres(), (it) => it.stop()) : undefined;
  const secretKey = randomBytes(32).toString('base64');
  const env = {
    RUSHHOUR_DATA_DIR: dataDir,
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
    RUSHHOUR_SECRET_KEY: secretKey,
    ...(postgres && { DATABASE_URL: postgres.url }),
  };
  await (await spawnController(env)).kill('SIGTERM');
  const store = await openStore({ dataDir, databaseUrl: postgres?.url, secretKey: Buffer.from(secretKey, 'base64') });
  const before = performance.now();
  await makeRecords(store, counts);
  await store.close();
  console.log(`${engine}: records were made in ${((performance.now() - before) / 1000).toFixed(0)} s`);
  const controller = open.adopt(await spawnController(env), (it) => void it.kill('SIGKILL'));
  const client = createClient(controller.url, cookieJar());
  await client.auth.login({ body: admin });
  await client.settings.update({ body: { limits: { rate: 100_000_000 } } });
  const endWatch = watchLife(controller.url);
  const rows: Row[] = [];
  for (const [name, ask] of lists) {
    await ask(client);
    const value = p99(await timesOf(() => ask(client), samples));
    console.log(`${engine}: ${name}: ${value.toFixed(1)} ms`);
    rows.push({ name: `${engine}: ${name}, p99 ms`, value, goal: 50 });
  }
  rows.push({ name: `${engine}: overview, p99 ms`, value: p99(await timesOf(() => overview(client), 30)), goal: 200 });
  rows.push({ name: `${engine}: /livez meanwhile, p99 ms`, value: await endWatch(), goal: 50 });
  return rows.map((row) => ({ ...row, better: 'lower' }));
};

takePriority();
const outcomes = [];
const engines = (['sqlite', 'postgres'] as const).filter(
  (name) => process.argv[2] === undefined || process.argv[2] === name,
);
for (const engine of engines) outcomes.push(report(await measure(engine)));
process.exit(outcomes.every(Boolean) ? 0 : 1);
