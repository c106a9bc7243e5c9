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
import { takePriority } from './priority.ts';
import { type Row, report } from './report.ts';

const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };
const counts = { tasks: 100_000, notifications: 1_000_000, files: 50_000, runs: 10_000 };
const samples = 100;
const day = '2026-10-';

/** Numbers from 1 as rows of `s(i)`. */
const numbers = (engine: string, count: number) =>
  engine === 'postgres'
    ? `generate_series(1, ${count}) as s(i)`
    : `(with recursive c(i) as (select 1 union all select i + 1 from c where i < ${count}) select i from c) as s`;

const seeds = (engine: string) => {
  const text = (value: string) => `cast(${value} as text)`;
  const at = `'${day}' || ${text('10 + i % 20')} || 'T10:00:00.000Z'`;
  return [
    `insert into tasks (comment, status, error, "accessPlane", "controlPlane", configuration, dumps, "scheduleEnabled",
      "createdAt", "updatedAt") select 'task ' || ${text('i')}, i % 10, '', '[]', '[]', '[]', '{}', 0, ${at}, ${at}
      from ${numbers(engine, counts.tasks)}`,
    `insert into links select 'task', i, 'task', 'plugin', 1 + i % 20 from ${numbers(engine, counts.tasks)}`,
    `insert into notifications (severity, kind, message, audience, "createdAt")
      select case when i % 10 = 0 then 'error' else 'info' end, 'run', 'message ' || ${text('i')}, 'user:' || ${text('1 + i % 3')}, ${at}
      from ${numbers(engine, counts.notifications)}`,
    `insert into files (name, category, kind, mime, size, md5, sha1, sha256, sha3_384, original_sha256, source, tags, state,
      problem, "first_seen_at", "createdAt", "updatedAt") select 'file ' || ${text('i')} || '.bin', 'other', 'binary',
      'application/octet-stream', i, '', '', ${text('i')}, '', '', 'upload', '', 'ready', '', ${at}, ${at}, ${at}
      from ${numbers(engine, counts.files)}`,
    `insert into runs ("taskID", number, status, "stopReason", "stopMode", verdict, validity, health, comment, labels, origin,
      priority, "queuedAt", "startedAt", "finishedAt", t0, "pausedMs", epoch, attempt, definition, "definitionSecrets",
      "definitionHash", capture, thresholds, "agentLossPolicy", summary, pinned, error, "createdAt", "updatedAt")
      select 1, i, 7, 'duration', '', 1, '{"valid":true,"reasons":[]}', 'ok', 'run ' || ${text('i')}, '{}', 'user', 5, ${at}, ${at},
      ${at}, 1, 0, 0, 1, '{"comment":"","accessPlane":[],"controlPlane":[],"configuration":[],"dumps":{}}', '{}', '', '{}', '[]',
      'auto', '{"entries":[],"thresholds":[]}', 1, '', ${at}, ${at} from ${numbers(engine, counts.runs)}`,
    `insert into "runSamples" ("runID", "agentID", "orderIndex", "fromSeq", "toSeq", "fromAt", "toAt", "isBlock", data)
      select i, 1, 0, 1, 60, 1000, 60000, 1, ${engine === 'postgres' ? "'\\x00'::bytea" : "x'00'"} from ${numbers(engine, counts.runs)}`,
    'analyze',
  ];
};

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

const timesOf = async (work: () => Promise<unknown>, times: number) => {
  const found: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const before = performance.now();
    await work();
    found.push(performance.now() - before);
  }
  return found.sort((a, b) => a - b);
};
const p99 = (times: readonly number[]) => times[Math.ceil(times.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY;

/** Asks for `/livez` all the time. */
const watchLife = (url: string) => {
  const times: number[] = [];
  let isOn = true;
  const done = (async () => {
    while (isOn) {
      times.push(...(await timesOf(() => fetch(`${url}/livez`).then((reply) => reply.text()), 1)));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return async () => {
    isOn = false;
    await done;
    return p99(times.sort((a, b) => a - b));
  };
};

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
  for (const sql of seeds(engine)) await store.database.transaction((tx) => tx.run({ name: '', sql }, []));
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
