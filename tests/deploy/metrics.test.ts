import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../process/free-port.ts';
import { type AgentProcess, httpTask, runToEnd, type System, startSystem, until } from '../system/system.ts';

const scratch = mkdtempSync(join(tmpdir(), 'rushhour-metrics-'));
const children: ChildProcess[] = [];
let system: System;
let near: AgentProcess;
let far: AgentProcess;
let prometheus: string;
let influx: string;

const run = (program: string, args: readonly string[]) => {
  const child = spawn(program, args, { stdio: 'ignore', cwd: scratch });
  children.push(child);
};

const isUp = (url: string) => async () => (await fetch(url).catch(() => undefined))?.ok === true;

const startPrometheus = async (target: string) => {
  const port = await freePort();
  const config = join(scratch, 'prometheus.yml');
  const scrape = `scrape_configs:\n  - job_name: rushhour\n    scrape_interval: 1s\n    static_configs:\n      - targets: ["${target}"]\n`;
  writeFileSync(config, `global: { scrape_interval: 1s }\n${scrape}`);
  execFileSync('promtool', ['check', 'config', config]);
  const listen = [`--web.listen-address=127.0.0.1:${port}`, '--web.enable-remote-write-receiver'];
  run('prometheus', [`--config.file=${config}`, `--storage.tsdb.path=${scratch}/tsdb`, ...listen]);
  const url = `http://127.0.0.1:${port}`;
  await until('Prometheus', isUp(`${url}/-/ready`));
  return url;
};

const startInflux = async () => {
  const [port, rpc] = [await freePort(), await freePort()];
  const config = join(scratch, 'influxdb.conf');
  const folders = ['meta', 'data', 'wal'].map((name) => join(scratch, 'influx', name));
  writeFileSync(
    config,
    `reporting-disabled = true\nbind-address = "127.0.0.1:${rpc}"\n[meta]\ndir = "${folders[0]}"\n[data]\ndir = "${folders[1]}"\nwal-dir = "${folders[2]}"\n[http]\nbind-address = "127.0.0.1:${port}"\n`,
  );
  run('influxd', ['-config', config]);
  const url = `http://127.0.0.1:${port}`;
  await until('InfluxDB', isUp(`${url}/ping`));
  await fetch(`${url}/query?q=CREATE+DATABASE+runs`, { method: 'POST' });
  return url;
};

/** A receiver of OTLP that is away for the first attempts. */
const otlp = { bodies: [] as string[], authorization: '', refused: 0 };
const receiver = createServer(async (request: IncomingMessage, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  otlp.authorization = request.headers.authorization ?? '';
  if (otlp.refused < 2) {
    otlp.refused += 1;
    return void response.writeHead(503).end();
  }
  otlp.bodies.push(Buffer.concat(chunks).toString());
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  system = await startSystem({}, { RUSHHOUR_LOG_LEVEL: 'info' });
  [prometheus, influx] = [await startPrometheus(new URL(system.url).host), await startInflux()];
  near = await system.addAgent('near');
  far = await system.addAgent('far');
  const collector = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/v1/metrics`;
  await system.client.settings.update({
    body: {
      delivery: { allowPrivateTargets: true },
      metrics: {
        runsAtMetrics: true,
        outputs: [
          { type: 'prometheus', target: `${prometheus}/api/v1/write` },
          { type: 'influx', target: `${influx}/write?db=runs` },
          { type: 'otlp', target: collector, authorization: 'Bearer of-metrics' },
          { type: 'jsonLines', target: 'runs.jsonl' },
          { type: 'jsonLines', target: 'first-task.jsonl', taskIDs: [1] },
          { type: 'jsonLines', target: 'other-task.jsonl', taskIDs: [999] },
        ],
      },
    },
  });
  const task = { ...httpTask(near, far, { requestsPerSecond: 200, duration: { mode: 'time', seconds: 10 } }) };
  await runToEnd(system.client, { ...task, comment: 'measured "firewall"' });
});
afterAll(async () => {
  await system?.close();
  for (const child of children) child.kill('SIGKILL');
  receiver.close();
  rmSync(scratch, { recursive: true, force: true });
});

interface Sample {
  metric: Record<string, string>;
  values: [number, string][];
}

const rangeOf = async (query: string): Promise<Sample[]> => {
  const now = Date.now() / 1000;
  const range = new URLSearchParams({ query, start: String(now - 600), end: String(now), step: '1' });
  const reply = await fetch(`${prometheus}/api/v1/query_range?${range}`);
  const { status, data, error } = (await reply.json()) as {
    status: string;
    error?: string;
    data: { result: Sample[] };
  };
  expect([query, status, error]).toEqual([query, 'success', undefined]);
  return data.result;
};

const valuesOf = (samples: readonly Sample[]) =>
  samples.flatMap(({ values }) => values.map(([, value]) => Number(value)));
const near200 = (values: readonly number[]) => values.filter((value) => value > 150 && value < 250).length;

describe('metrics in a real Prometheus', () => {
  it('are scraped: agents, runs, verdicts, queue, ingest, database, build', async () => {
    // The answer is kept for a second: the first may be of the time before the run ended.
    const text = await until('metrics of a finished run', async () => {
      const page = await (await fetch(`${system.url}/metrics`)).text();
      return /^rushhour_agents\{state="online"\} 2$/m.test(page) ? page : undefined;
    });
    // Names of the library's own process metrics are its choice.
    const ours = text.replaceAll(/^.*nodejs_active.*\n/gm, '');
    execFileSync('promtool', ['check', 'metrics'], { input: ours, stdio: ['pipe', 'ignore', 'pipe'] });
    expect(text).toMatch(/^rushhour_build_info\{version="\d+\.\d+\.\d+",commit="\w+",node="v24[^"]*"\} 1$/m);
    expect(text).toMatch(/^rushhour_runs\{state="finished"\} 1$/m);
    expect(text).toMatch(/^rushhour_queue_length 0$/m);
    for (const kind of ['read', 'write']) {
      expect(text).toMatch(new RegExp(`^rushhour_store_duration_seconds_count\\{kind="${kind}"\\} [1-9]`, 'm'));
    }
    expect(Math.max(...valuesOf(await rangeOf('rushhour_runs{state="running"}')))).toBe(1);
    expect(Math.max(...valuesOf(await rangeOf('rushhour_ingest_lag_seconds')))).toBeGreaterThan(0);
  });

  it('show the seconds of the run with task, run, agent and plugin', async () => {
    await until('all seconds', async () => {
      const found = await rangeOf('rushhour_run_http_requests_per_second{job="",role="client"}');
      return near200(valuesOf(found)) >= 7;
    });
    const [written] = await rangeOf('rushhour_run_http_requests_per_second{job="",role="client"}');
    expect(written?.metric).toMatchObject({
      task: 'measured "firewall"',
      agent: 'near',
      plugin: 'http',
      role: 'client',
    });
    expect(written?.metric['run']).toMatch(/^\d+$/);
    const scraped = await rangeOf('rushhour_run_http_requests_per_second{job="rushhour",role="client"}');
    expect(near200(valuesOf(scraped))).toBeGreaterThan(2);
  });

  it('feed every panel of the dashboard', async () => {
    const file = new URL('../../deploy/grafana/rushhour.json', import.meta.url);
    const { panels } = JSON.parse(readFileSync(file, 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    expect(panels.length).toBeGreaterThan(8);
    for (const { title, targets } of panels) {
      for (const { expr } of targets) {
        const found = await rangeOf(expr.replaceAll(/\$(task|run)/g, '.*'));
        expect(found.length, `${title}: ${expr}`).toBeGreaterThan(0);
      }
    }
  });
});

describe('other outputs', () => {
  it('InfluxDB has the points', async () => {
    const query = `SELECT "value" FROM "rushhour_run_http_requests_per_second" WHERE "role" = 'client' AND "agent" = 'near'`;
    const points = async () => {
      const reply = await fetch(`${influx}/query?db=runs&q=${encodeURIComponent(query)}`);
      const { results } = (await reply.json()) as { results: { series?: { values: [string, number][] }[] }[] };
      return results[0]?.series?.[0]?.values.map(([, value]) => value) ?? [];
    };
    await expect.poll(async () => near200(await points())).toBeGreaterThanOrEqual(7);
  });

  it('an OTLP receiver gets them after it was away, with the header; the secret is masked', async () => {
    await expect.poll(() => otlp.bodies.length).toBeGreaterThan(0);
    expect(otlp).toMatchObject({ refused: 2, authorization: 'Bearer of-metrics' });
    const body = JSON.parse(otlp.bodies[0] ?? '{}');
    const [resource] = body.resourceMetrics;
    expect(resource.resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'rushhour' } });
    const latency = resource.scopeMetrics[0].metrics.find(
      (one: { name: string }) => one.name === 'rushhour_run_http_latency_p99',
    );
    const [point] = latency.gauge.dataPoints;
    expect(point).toMatchObject({ timeUnixNano: expect.stringMatching(/^\d{19}$/), asDouble: expect.any(Number) });
    expect(point.attributes.map(({ key }: { key: string }) => key)).toEqual(
      expect.arrayContaining(['task', 'task_id', 'run', 'agent', 'agent_id', 'plugin', 'role']),
    );
    const { data } = await system.client.settings.get();
    expect(data.metrics.outputs[2]?.authorization).toBe('********');
  });

  it('JSON lines are in the data folder, of all tasks or of those that are named', async () => {
    const lines = (name = 'runs') =>
      readFileSync(join(system.dataDir, `metrics/${name}.jsonl`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(
      near200(
        lines()
          .filter(({ name }) => name === 'rushhour_run_http_requests_per_second')
          .map(({ value }) => value),
      ),
    ).toBeGreaterThan(6);
    await expect.poll(() => lines('first-task').length).toBe(lines().length);
    expect(existsSync(join(system.dataDir, 'metrics/other-task.jsonl'))).toBe(false);
    expect(lines()[0]).toMatchObject({ time: expect.stringMatching(/Z$/), labels: { task: 'measured "firewall"' } });
  });

  it('are refused when their targets make no sense', async () => {
    const update = (outputs: object[]) => system.client.settings.update({ body: { metrics: { outputs } } as never });
    await expect(update([{ type: 'jsonLines', target: '../escape' }])).rejects.toMatchObject({ status: 400 });
    await expect(update([{ type: 'otlp', target: 'ftp://x' }])).rejects.toMatchObject({ status: 400 });
  });
});

interface LogLine {
  readonly level: string;
  readonly time: string;
  readonly source: string;
  readonly message: string;
  readonly [fact: string]: unknown;
}

const logOf = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);

describe('the log', () => {
  it('of controller and agents has lines of one format', () => {
    const lines = [system, near, far].map((program) => logOf(program.output()));
    for (const written of lines) expect(written.length).toBeGreaterThan(0);
    for (const line of lines.flat()) {
      expect(line).toMatchObject({
        level: expect.stringMatching(/^(debug|info|warn|error)$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        source: expect.stringMatching(/^\w/),
        message: expect.stringMatching(/^\w/),
      });
      // Records are named as in the API.
      expect(Object.keys(line)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(agent|task|user)Id$/)]));
    }
  });

  it('has sign-ins, those that were refused, and every state of runs and agents', async () => {
    const wrong = { email: 'nobody@example.test', password: 'not-The-Password-9' };
    await expect(system.client.auth.login({ body: wrong })).rejects.toMatchObject({ status: 401 });
    const found = () => logOf(system.output());
    await expect.poll(found).toContainEqual(expect.objectContaining({ message: 'sign-in refused' }));
    const lines = found();
    const address = '127.0.0.1';
    expect(lines).toContainEqual(expect.objectContaining({ level: 'info', message: 'signed in', userID: 1, address }));
    const refusal = { level: 'warn', message: 'sign-in refused', email: wrong.email, address };
    expect(lines).toContainEqual(expect.objectContaining(refusal));
    const states = lines.flatMap(({ taskID, state }) => (taskID === 1 ? [state] : []));
    expect(states.filter((state, i) => state !== states[i - 1])).toEqual(
      expect.arrayContaining(['queued', 'running', 'finished']),
    );
    for (const { id } of [near, far])
      expect(lines).toContainEqual(expect.objectContaining({ agentID: id, state: 'online' }));
  });
});
