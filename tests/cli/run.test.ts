import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { takePriority } from '../engines/priority.ts';
import { type AgentProcess, type System, startSystem } from '../system/system.ts';
import { commandLine } from './command-line.ts';

// Verdicts are of the device only while the machine has time for the agents.
takePriority();

const template = 'HTTP requests per second';
let system: System;
let cli: ReturnType<typeof commandLine>;
let edges: [AgentProcess, AgentProcess];

beforeAll(async () => {
  system = await startSystem();
  edges = [await system.addAgent('edge-1'), await system.addAgent('edge-2')];
  cli = commandLine({ RUSHHOUR_URL: system.url });
  const env = { RUSHHOUR_PASSWORD: 'quiet-Harbour-27-lamps' };
  expect((await cli.call(['login', '--email', 'admin@example.test'], { env })).code).toBe(0);
});
afterAll(async () => {
  cli?.remove();
  await system?.close();
});

const fill = ['--agents', 'client=edge-1,server=edge-2', '--param', 'rps=50', '--param', 'seconds=4'];

it('runs a template to its end: live line, summary, reports, 0 when its thresholds hold', async () => {
  const [junit, html] = [join(cli.folder, 'out.xml'), join(cli.folder, 'out.html')];
  const thresholds = ['--threshold', 'p99(http.latency)<2s', '--threshold', 'errors==0'];
  const ended = await cli.call(['run', template, ...fill, ...thresholds, '--junit', junit, '--html', html]);
  expect(ended.stderr).toMatch(/task \d+, run \d+: http:\S+\/tasks\/\d+\/runs\/\d+/);
  expect(ended.stderr).toMatch(/steady.* \d\d:\d\d\/\d\d:\d\d +\d+ % +http\.\w+ [\d.,]+\/s/);
  expect(ended.stdout).toMatch(/http client, \d+ s/);
  expect(ended.stdout).toMatch(/http\.requests +\d+ \([\d.]+\/s\)/);
  expect(ended.stdout).toMatch(/✓ p99\(http\.latency\) < 2 s: [\d.]+ (µs|ms)/);
  expect(ended.stdout).toMatch(/verdict +passed/);
  expect(ended.code).toBe(0);
  expect(readFileSync(junit, 'utf8')).toMatch(/<testsuites?[\s\S]*p99\(http\.latency\)&#60;2s/);
  expect(readFileSync(html, 'utf8')).toContain('<html');
});

it('ends with 99 when a threshold fails, and runs an unchanged definition as the same task', async () => {
  const before = (await system.client.tasks.list({ query: {} })).data.length;
  const ended = await cli.call(['run', template, ...fill, '--threshold', 'p99(http.latency)<1us', '-o', 'json', '-q']);
  const result = JSON.parse(ended.stdout);
  expect([ended.code, result.verdict, result.number]).toEqual([99, 2, 2]);
  expect(ended.stderr).toBe('');
  expect((await system.client.tasks.list({ query: {} })).data.length).toBe(before);
});

it('ends with 98 when the verdict is inconclusive', async () => {
  const task = {
    comment: 'no answers',
    configuration: [
      {
        plugin: 'http',
        values: {
          sources: [{ agent: 'edge-1' }],
          targets: [{ agent: 'edge-2', ports: String(edges[1].port) }],
          requestsPerSecond: 20,
          duration: { mode: 'time', seconds: 3 },
        },
      },
    ],
    thresholds: [
      { name: 'none', metric: 'http.tls', aggregation: 'p99', operator: '<', value: 1, onNoData: 'inconclusive' },
    ],
  };
  const { data: plugin } = await system.client.tasks.plugin({ params: { id: 1 } });
  const unused = plugin.metrics.find(({ name, type }) => type === 'histogram' && /tls|handshake/.test(name));
  (task.thresholds[0] as { metric: string }).metric = unused?.name ?? '';
  const file = join(cli.folder, 'task.json');
  writeFileSync(file, JSON.stringify(task));
  const ended = await cli.call(['run', file]);
  expect(ended.stdout).toMatch(/verdict +inconclusive/);
  expect(ended.code).toBe(98);
});

it('stages change the rate while it runs', async () => {
  const ended = await cli.call([
    'run',
    template,
    '--agents=client=edge-1,server=edge-2',
    '--stage=4s:20',
    '--stage=4s:200',
    '--output=json',
  ]);
  // A machine that is busy with other tests makes the result doubtful, not the stages.
  expect([0, 98]).toContain(ended.code);
  const { taskID: id, id: runId } = JSON.parse(ended.stdout);
  const { data } = await system.client.tasks.series({
    params: { id, runId },
    query: { metrics: 'http.requests', agg: 'rate', step: 1 },
  });
  const rates = data.series[0]?.values.map((value) => value ?? 0) ?? [];
  expect(rates[1]).toBeLessThan(60);
  expect(Math.max(...rates)).toBeGreaterThan(150);
});

it('an interrupt stops the run and ends with 130', async () => {
  const { data: id } = await system.client.tasks.create({
    body: {
      comment: 'long',
      configuration: [
        {
          plugin: { id: 1 },
          values: {
            sources: [{ agent: { id: edges[0].id } }],
            targets: [{ agent: { id: edges[1].id }, ports: String(edges[1].port) }],
            requestsPerSecond: 20,
            duration: { mode: 'time', seconds: 600 },
          },
        },
      ],
    } as never,
  });
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, [cli.program, 'run', String(id)], { env: cli.environment });
  let text = '';
  child.stderr.on('data', (chunk) => {
    text += chunk;
    if (/http\.\w+ \d+\/s/.test(text) && !text.includes('stopping')) child.kill('SIGINT');
  });
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130);
  expect((await system.client.tasks.status({ params: { id } })).data.statusName).toBe('stopped');
});

it('says what is wrong before anything runs', async () => {
  const cases: [string[], number, RegExp][] = [
    [['run', 'nonsense'], 64, /there is no template "nonsense"; there are:\n {2}/],
    [['run', template, '--agents', 'client=edge-9'], 64, /there is no agent "edge-9"; there are: edge-1, edge-2/],
    [['run', template], 1, /\/agentMap\/client: needs an agent/],
    [['run', template, ...fill, '--param', 'rps=x'], 1, /\/parameters\/rps: must be an integer/],
    [['run', template, ...fill, '--threshold', 'p99 < 3 apples'], 64, /the threshold .* is not understood/],
    [['run', template, ...fill, '--threshold', 'p99(no.such)<1'], 1, /"no.such" is not reported by http/],
    [['run', '9999'], 1, /9999/],
    [['run', 'missing.yaml'], 64, /missing.yaml: ENOENT/],
    [['run', '3', '--param', 'rps=1'], 64, /--agents and --param fill templates/],
    [['run'], 64, /missing required argument 'subject'/],
  ];
  for (const [args, code, text] of cases) {
    const ended = await cli.call(args);
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringMatching(text)]);
  }
  expect(existsSync(join(cli.folder, 'out.csv'))).toBe(false);
});

it('a pipeline needs nothing but RUSHHOUR_URL and a token with the scopes it uses', async () => {
  const scopes = 'tasks.read,tasks.write,tasks.execute,taskTemplates.read,agents.read';
  const made = await cli.call(['token', 'create', '--name', 'ci', '--scopes', scopes, '--days', '1']);
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^rh_pat_\S{43}\n$/)]);
  const env = { RUSHHOUR_TOKEN: made.stdout.trim(), XDG_CONFIG_HOME: join(cli.folder, 'nobody') };
  const ran = await cli.call(['run', template, ...fill, '--threshold', 'p99(http.latency)<1us'], { env });
  // A machine that is busy with other tests makes the result doubtful.
  expect([98, 99]).toContain(ran.code);
  const denied = await cli.call(['users', 'list', '--count', '10', '--offset', '0'], { env });
  expect([denied.code, denied.stderr]).toEqual([77, 'this needs the permission users.read\n']);
  const listed = JSON.parse((await cli.call(['token', 'list'])).stdout);
  expect((await cli.call(['token', 'revoke', String(listed.data.at(-1).id)])).code).toBe(0);
  expect((await cli.call(['users', 'me'], { env })).code).toBe(77);
});
