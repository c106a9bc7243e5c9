import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import type { MetricValue } from '@rushhour/contract';
import { root } from './run.ts';

// `npm run demo`: a complete test on a temporary controller with two local agents.
// With RUSHHOUR_URL, RUSHHOUR_EMAIL and RUSHHOUR_PASSWORD it uses a running controller.

const template = 'HTTP requests per second';
const print = (line: string) => void process.stdout.write(`${line}\n`);
const milliseconds = (microseconds: number | null | undefined) =>
  microseconds === null || microseconds === undefined ? '–' : `${(microseconds / 1000).toFixed(2)} ms`;
const whole = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en');

const given = process.env['RUSHHOUR_URL'];
const own = given === undefined ? await startOwn() : undefined;
const account = own?.account ?? {
  email: process.env['RUSHHOUR_EMAIL'] ?? '',
  password: process.env['RUSHHOUR_PASSWORD'] ?? '',
};
const url = own?.url ?? given ?? '';
try {
  await demonstrate(createClient(url, cookieJar()));
} finally {
  await own?.stop();
}

async function demonstrate(client: Client) {
  await client.auth.login({ body: account });
  print(`signed in at ${url} as ${account.email}`);
  const [near, far] = await agentsOf(client);
  print(`agents: ${near.name} sends, ${far.name} answers`);
  const { data: templates } = await client.taskTemplates.all();
  const templateID = templates.find(({ name }) => name === template)?.id;
  if (templateID === undefined) throw new Error(`there is no template “${template}”`);
  const { data: id } = await client.tasks.fromTemplate({
    body: { templateID, comment: 'Demonstration', agentMap: { client: near.id, server: far.id } },
  });
  const { data: started } = await client.tasks.start({ params: { id } });
  print(`task ${id} from the template “${template}”, run ${started.runId}`);
  await watch(client, id);
  await conclude(client, id, started.runId);
}

/** The two agents that start with the controller. */
async function agentsOf(client: Client) {
  for (let tries = 0; tries < 100; tries += 1) {
    const { data } = await client.agents.list({ query: { status: '1', key: 'name', order: 'asc' } });
    const [near, far] = data;
    if (near !== undefined && far !== undefined) return [near, far] as const;
    await sleep(200);
  }
  throw new Error('two agents must be online');
}

/** One line, overwritten every second. */
async function watch(client: Client, id: number) {
  for await (const { event, data } of await client.tasks.stream({
    params: { id },
    query: { types: 'status,metrics,end' },
  })) {
    if (event === 'end') break;
    if (event !== 'metrics') continue;
    const { values } = data as { values: { metrics: MetricValue[] }[] };
    const of = (name: string) => values[0]?.metrics.find(({ metric }) => metric === name);
    const { data: status } = await client.tasks.status({ params: { id } });
    const done = Math.round(status.progress * 20);
    const bar = '█'.repeat(done).padEnd(20, '░');
    const rate = `${whole(of('http.requests')?.rate)} requests/s`;
    const errors = `${whole(of('errors')?.sum ?? 0)} errors`;
    process.stdout.write(`\r${bar} ${rate}  p99 ${milliseconds(of('http.latency')?.p99)}  ${errors}\x1b[K`);
  }
  print('');
}

async function conclude(client: Client, id: number, runId: number) {
  const { data: run } = await client.tasks.run({ params: { id, runId } });
  for (const side of run.summary) {
    print(`\n${side.plugin} ${side.role}, ${side.seconds.toFixed(0)} s (${side.window})`);
    for (const value of side.metrics) print(`  ${value.metric.padEnd(28)}${textOf(value)}`);
  }
  const verdict = ['none: the task has no thresholds', 'passed', 'failed', 'inconclusive'][run.verdict];
  print(`\nverdict   ${verdict}`);
  for (const { name, metric, aggregation, operator, value, actual, outcome } of run.thresholds) {
    print(
      `  ${outcome.padEnd(8)}${name}: ${aggregation}(${metric}) = ${actual ?? 'no data'}, wanted ${operator} ${value}`,
    );
  }
  print(`validity  ${run.validity.valid ? 'valid' : run.validity.reasons.join('; ')}`);
  const report = await client.tasks.report({ params: { id, runId }, query: { format: 'html' } });
  const folder = join(root, 'data');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'demo-report.html');
  writeFileSync(file, Buffer.from(await report.arrayBuffer()));
  print(`report    ${file}`);
}

function textOf({ type, unit, sum, rate, last, avg, p50, p99, max }: MetricValue) {
  if (type === 'counter') return `${whole(sum)}  (${whole(rate)}/s)`;
  if (type === 'gauge') return whole(last ?? avg);
  const show = unit === 'µs' || unit === 'us' ? milliseconds : whole;
  return `p50 ${show(p50)}  p99 ${show(p99)}  max ${show(max)}`;
}

/** A controller in a temporary folder, removed at the end. */
async function startOwn() {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-demo-'));
  const account = { email: 'demo@rushhour.local', password: randomBytes(15).toString('base64url') };
  const child = spawn(process.execPath, [join(root, 'packages/controller/src/main.ts')], {
    env: {
      ...process.env,
      RUSHHOUR_PORT: '0',
      RUSHHOUR_DATA_DIR: dataDir,
      RUSHHOUR_ADMIN_EMAIL: account.email,
      RUSHHOUR_ADMIN_PASSWORD: account.password,
      RUSHHOUR_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const ready = /ready at (\S+)/.exec(text)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    void ended.then(() => reject(new Error(`the controller did not start: ${text}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { url, account, stop };
}
