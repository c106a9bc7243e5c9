/**
 * Lists and searches over many records, on both databases or the one that the argument names: the slowest of a hundred
 * answers, and who waits meanwhile.
 */
import type { Client } from '@rushhour/client';
import { chosenDatabases, type Database, startFilled } from './filled-controller.ts';
import { makeRecords } from './many-records.ts';
import { takePriority } from './priority.ts';
import { type Row, report } from './report.ts';
import { p99, timesOf, watchLife } from './watch-life.ts';

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

const measure = async (engine: Database): Promise<Row[]> => {
  await using open = new AsyncDisposableStack();
  const { controller, client } = await startFilled(engine, open, async (store) => {
    const before = performance.now();
    await makeRecords(store, counts);
    console.log(`${engine}: records were made in ${((performance.now() - before) / 1000).toFixed(0)} s`);
  });
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
for (const engine of chosenDatabases) outcomes.push(report(await measure(engine)));
process.exit(outcomes.every(Boolean) ? 0 : 1);
