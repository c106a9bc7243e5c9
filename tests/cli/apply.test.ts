import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentProcess, type System, startSystem } from '../system/system.ts';
import { commandLine } from './command-line.ts';

let system: System;
let cli: ReturnType<typeof commandLine>;
let edge: AgentProcess;

beforeAll(async () => {
  system = await startSystem();
  edge = await system.addAgent('edge-1');
  await system.addAgent('edge-2');
  await system.client.networks.create({ body: { name: 'clients', subnet: '10.9.0.0/24' } as never });
  cli = commandLine({ RUSHHOUR_URL: system.url });
  const env = { RUSHHOUR_PASSWORD: 'quiet-Harbour-27-lamps' };
  expect((await cli.call(['login', '--email', 'admin@example.test'], { env })).code).toBe(0);
});
afterAll(async () => {
  cli?.remove();
  await system?.close();
});

const file = () => join(cli.folder, 'task.yaml');
const yaml = (rate: number) => `comment: Through the firewall
configuration:
  - plugin: http
    values:
      sources: [{ agent: edge-1, network: { name: clients } }]
      targets: [{ agent: { name: edge-2 }, ports: "8081" }]
      httpParams: { path: /, headers: [{ name: Authorization, value: Bearer s3cret }] }
      requestsPerSecond: ${rate}
      duration: { mode: time, seconds: 5 }
thresholds:
  - p99(http.latency) < 20ms
`;

it('creates a task from a file, changes it with a difference, and leaves it alone when it is as the file says', async () => {
  writeFileSync(file(), yaml(100));
  const created = await cli.call(['apply', file()]);
  expect([created.code, created.stderr]).toEqual([0, '']);
  expect(created.stdout).toMatch(
    /new task\n[\s\S]*\+ {5}plugin: http|new task\n[\s\S]*plugin: http[\s\S]*task 1 created/,
  );
  const { data: task } = await system.client.tasks.get({ params: { id: 1 } });
  expect(task.configuration[0]).toMatchObject({ plugin: { id: 1 }, values: { sources: [{ agent: { id: edge.id } }] } });
  expect((await system.client.tasks.thresholds({ params: { id: 1 } })).data[0]).toMatchObject({ value: 20_000 });
  writeFileSync(file(), yaml(250));
  const shown = await cli.call(['apply', '--diff', file()]);
  expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('- ')]);
  expect(shown.stdout).toMatch(/- +requestsPerSecond: 100\n/);
  expect(shown.stdout).toMatch(/\+ +requestsPerSecond: 250\n/);
  expect(shown.stdout).not.toContain('s3cret');
  expect((await system.client.tasks.get({ params: { id: 1 } })).data.configuration[0]?.values).toMatchObject({
    requestsPerSecond: 100,
  });
  expect((await cli.call(['apply', file()])).stdout).toMatch(/task 1 changed\n$/);
  expect((await cli.call(['apply', '--diff', file()])).code).toBe(0);
  expect((await system.client.tasks.list({ query: {} })).data.length).toBe(1);
});

it('an export has names instead of ids, no secret, and is applied without a difference', async () => {
  const exported = await cli.call(['export', '1']);
  expect(exported.stdout).toContain('plugin: http');
  expect(exported.stdout).toContain('agent: edge-1');
  expect(exported.stdout).toMatch(/network:\n +name: clients/);
  expect(exported.stdout).not.toContain('s3cret');
  const folder = join(cli.folder, 'tasks');
  expect((await cli.call(['export', '1', '--to', folder])).code).toBe(0);
  expect(readdirSync(folder)).toEqual(['through-the-firewall.yaml']);
  expect(readFileSync(join(folder, 'through-the-firewall.yaml'), 'utf8')).toBe(exported.stdout);
  expect((await cli.call(['apply', '--diff', join(folder, 'through-the-firewall.yaml')])).code).toBe(0);
});

it('a file may fill a template', async () => {
  const path = join(cli.folder, 'template.yaml');
  const agents = '{ client: edge-1, server: edge-2 }';
  writeFileSync(
    path,
    `comment: Filled\ntemplate: HTTP requests per second\nagents: ${agents}\nparameters: { rps: 7 }\n`,
  );
  expect((await cli.call(['apply', path])).code).toBe(0);
  expect((await cli.call(['apply', '--diff', path])).code).toBe(0);
  const { data } = await system.client.tasks.get({ params: { id: 2 } });
  expect(data.configuration[0]?.values).toMatchObject({ requestsPerSecond: 7 });
});

it('says what is wrong with a file', async () => {
  const path = join(cli.folder, 'wrong.yaml');
  const cases: [string, number, RegExp][] = [
    ['colour: red\n', 64, /colour: is not known[\s\S]*comment: is needed[\s\S]*configuration or template/],
    ['comment: x\nconfiguration: [{ plugin: httpx }]\n', 64, /there is no plugin "httpx"; there are: .*http/],
    ['comment: [\n', 64, /wrong.yaml: /],
    ['comment: x\nconfiguration: [{ plugin: http, values: { rate: 1 } }]\n', 1, /\/configuration\/0\/values/],
  ];
  for (const [text, code, message] of cases) {
    writeFileSync(path, text);
    const ended = await cli.call(['apply', path]);
    expect([text, ended.code, ended.stderr]).toEqual([text, code, expect.stringMatching(message)]);
  }
});
