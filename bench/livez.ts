/**
 * How quickly a controller answers `/livez` while it does what takes long: lists of many tasks and notifications, reports of
 * a thousand agents, an hour of twenty agents, a thousand uploads. The argument `sqlite` or `postgres` chooses a database.
 */
import { randomBytes } from 'node:crypto';
import type { Client } from '@rushhour/client';
import type { Store } from '../packages/controller/src/store/store.ts';
import { storeAgent } from '../packages/controller/src/tasks/testing/stored-agent.ts';
import { chosenDatabases, type Database, startFilled } from './filled-controller.ts';
import { storeLongRun } from './long-run.ts';
import { makeRecords } from './many-records.ts';
import { takePriority } from './priority.ts';
import { residentBytes } from './process-usage.ts';
import { type Row, report } from './report.ts';
import { watchLife } from './watch-life.ts';

const counts = { tasks: 10_000, notifications: 100_000, files: 1000, runs: 1000 };
const ofMany = { agentCount: 1000, minutes: 3 };
const hour = { agentCount: 20, minutes: 60 };
const uploads = 1000;
const uploadsAtOnce = 8;
const minMs = 3000;

type LongRun = Awaited<ReturnType<typeof storeLongRun>>;

const times = async (count: number, work: (index: number) => Promise<unknown>) => {
  for (let i = 0; i < count; i += 1) await work(i);
};

const reportsOf = async (client: Client, { taskId: id, runId }: LongRun) => {
  for (const format of ['html', 'junit', 'csv', 'json'] as const) {
    const reply = await client.tasks.report({ params: { id, runId }, query: { format } });
    await reply.arrayBuffer();
  }
};

const resultsOf = async (client: Client, { taskId: id, runId }: LongRun) => {
  const params = { id, runId };
  await client.tasks.run({ params, query: { full: true } });
  await client.tasks.runAgents({ params });
  await client.tasks.series({ params, query: { metrics: 'http.requests,http.latency', by: 'agent' } });
  await client.tasks.series({ params, query: { metrics: 'http.requests,http.latency' } });
};

const engines = ['http', 'tcp', 'udp', 'dns', 'tls', 'icmp', 'stream', 'har-replay', 'pcap-replay', 'application'];

const storeAgents = async (store: Store, count: number) => {
  for (let i = 0; i < count; i += 1) await storeAgent(store, { name: `agent ${i}`, engines, interfaces: [1, 2, 3, 4] });
};

const taskOf = (count: number) => {
  const [server = 0, ...clients] = Array.from({ length: count }, (_, i) => i + 1);
  const values = {
    sources: clients.map((id) => ({ agent: { id } })),
    targets: [{ agent: { id: server }, ports: '8080' }],
    httpParams: { method: 'GET', path: '/' },
    requestsPerSecond: 100 * count,
    duration: { mode: 'time', seconds: 10 },
  };
  return { comment: 'many sources', configuration: [{ plugin: { id: 1 }, values }] };
};

const upload = (client: Client) => {
  const uploadSome = (offset: number) =>
    times(uploads / uploadsAtOnce, (i) => {
      const content = randomBytes(1024).toString('base64');
      return client.files.create({ body: { name: `small ${offset} ${i}`, category: 'other', content } });
    });
  return Promise.all(Array.from({ length: uploadsAtOnce }, (_, offset) => uploadSome(offset)));
};

const subjectsOf = (client: Client, many: LongRun, long: LongRun): [string, () => Promise<unknown>][] => [
  ['tasks of a plugin', () => client.tasks.list({ query: { count: 100, pluginID: 3 } })],
  ['tasks of an agent', () => client.tasks.list({ query: { count: 100, agentID: 3 } })],
  ['notifications', () => client.notifications.list({ query: { count: 100 } })],
  ['the user', () => client.users.me({})],
  ['a task of 1,000 sources', () => client.tasks.create({ body: taskOf(ofMany.agentCount) as never })],
  ['the agents', () => client.agents.list({ query: { count: 100 } })],
  [`results of ${ofMany.agentCount} agents`, () => resultsOf(client, many)],
  [`reports of ${ofMany.agentCount} agents`, () => reportsOf(client, many)],
  [`results of an hour of ${hour.agentCount} agents`, () => resultsOf(client, long)],
  [`reports of an hour of ${hour.agentCount} agents`, () => reportsOf(client, long)],
];

const measure = async (engine: Database): Promise<Row[]> => {
  await using open = new AsyncDisposableStack();
  const { controller, client, filled } = await startFilled(engine, open, async (store) => {
    await makeRecords(store, counts);
    await storeAgents(store, ofMany.agentCount);
    return { many: await storeLongRun(store, ofMany), long: await storeLongRun(store, hour) };
  });

  const rows: Row[] = [];
  const watch = async (name: string, work: () => Promise<unknown>) => {
    const endWatch = watchLife(controller.url);
    const startedAt = performance.now();
    let rounds = 0;
    for (; rounds === 0 || performance.now() - startedAt < minMs; rounds += 1) await work();
    const each = ((performance.now() - startedAt) / rounds).toFixed(1);
    const value = await endWatch();
    console.log(`${engine}: ${name}: ${each} ms each, /livez p99 ${value.toFixed(1)} ms`);
    rows.push({ name: `${engine}: /livez during ${name}, p99 ms`, value, goal: 50 });
  };
  for (const [name, work] of subjectsOf(client, filled.many, filled.long)) await watch(name, work);
  const before = residentBytes(controller.process.pid);
  await watch(`${uploads} small uploads`, () => upload(client));
  const grownMib = (residentBytes(controller.process.pid) - before) / 2 ** 20;
  rows.push({ name: `${engine}: MiB more after ${uploads} small uploads`, value: grownMib, goal: 200 });
  return rows.map((row) => ({ ...row, better: 'lower' }));
};

takePriority();
const outcomes = [];
for (const engine of chosenDatabases) outcomes.push(report(await measure(engine)));
process.exit(outcomes.every(Boolean) ? 0 : 1);
