import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { aiScopes, resourceKinds } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../scripts/postgres.ts';
import { type Spawned, spawnController } from '../process/spawn-controller.ts';
import { until } from '../system/system.ts';
import { type Planted, plantCanaries, secretMembers } from './canaries.ts';

const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };
const limits = { requestsPerMin: 100_000, writesPerMin: 100_000, parallel: 100, approvalsPerHour: 1000 };

const dumpOf = (databaseUrl: string | undefined, dataDir: string): string => {
  if (databaseUrl === undefined) {
    const names = readdirSync(dataDir).filter((name) => name.startsWith('rushhour.db'));
    return names.map((name) => readFileSync(join(dataDir, name)).toString('latin1')).join('\n');
  }
  return execFileSync('pg_dump', ['--inserts', databaseUrl], { maxBuffer: 2 ** 28 }).toString();
};

describe.each(['sqlite', 'postgres'] as const)('with canaries in every secret member, on %s', (engine) => {
  let cluster: Awaited<ReturnType<typeof startPostgres>> | undefined;
  let controller: Spawned;
  let client: Client;
  let secret: string;
  let planted: Planted;
  let taskIds: number[];
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-canaries-'));
  /** Approval tokens, which are known to their AI key and never stored. */
  const tokens: string[] = [];
  /** All answers of the gateway and MCP. */
  const answers: string[] = [];

  beforeAll(async () => {
    cluster = engine === 'postgres' ? await startPostgres() : undefined;
    controller = await spawnController({
      ...{ RUSHHOUR_DATA_DIR: dataDir, RUSHHOUR_LOG_LEVEL: 'trace', RUSHHOUR_LOCAL_AGENTS: '1' },
      ...{ RUSHHOUR_ADMIN_EMAIL: admin.email, RUSHHOUR_ADMIN_PASSWORD: admin.password },
      ...(cluster && { DATABASE_URL: cluster.url }),
    });
    client = createClient(controller.url, cookieJar());
    await client.auth.login({ body: admin });
    await client.settings.update({ body: { limits: { rate: 1_000_000 } } as never });
    await until('an agent', async () => (await client.agents.list({ query: {} })).cursor.totalRows > 0);
    ({ planted, taskIds } = await plantCanaries(client, controller.url));
    const { data } = await client.aiAdmin.createKey({ body: { name: 'hunter', scopes: [...aiScopes], limits } });
    secret = data.secret;
  });
  afterAll(async () => {
    await controller?.kill('SIGKILL');
    await cluster?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const rest = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${controller.url}/v1/ai/gateway${path}`, {
      method,
      headers: { 'x-api-key': secret, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    answers.push(text);
    return { status: response.status, ...JSON.parse(text) };
  };
  const tool = async (name: string, given: object) => {
    const response = await fetch(`${controller.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        authorization: `Bearer ${secret}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
    });
    answers.push(await response.text());
  };

  it('the canaries are in all of them', () => {
    expect(new Set(planted.keys())).toEqual(new Set([...secretMembers(), 'tasks/headers']));
    for (const canaries of planted.values()) for (const canary of canaries) expect(canary.length).toBeGreaterThan(11);
  });

  it('records of every kind are returned without them', async () => {
    let read = 0;
    for (const kind of resourceKinds) {
      const { data } = await rest('GET', `/resources?kind=${kind}&count=100`);
      await tool('resources_search', { kind, count: 100 });
      for (const { id } of data ?? []) {
        read += (await rest('GET', `/resources/${kind}/${id}?view=full`)).status === 200 ? 1 : 0;
        await rest('GET', `/resources/${kind}/${id}?path=/params`);
        await rest('GET', `/resources/${kind}/${id}?path=/config`);
        await tool('resource_get', { kind, id, view: 'full' });
      }
    }
    expect(read).toBeGreaterThan(15);
    expect(answers.filter((text) => text.includes('__redacted__:hmac:')).length).toBeGreaterThan(10);
  });

  it('tasks, drafts, approvals and refusals are returned without them', async () => {
    const [given = ''] = planted.get('tasks/ipsecPsk') ?? [];
    for (const id of taskIds) {
      for (const path of [`?view=full`, '?path=/configuration/0/values', '/status', '/results', '/events', '/report'])
        await rest('GET', `/tasks/${id}${path}`);
      await tool('task_get', { id, view: 'full' });
      const { data: draft } = await rest('POST', '/drafts', { from: { taskId: id } });
      await tool('draft_get', { id: draft.id });
      await rest('POST', '/tasks/validate', { taskId: id });
      await tool('task_validate', { draftId: draft.id });
      const pointer = '/configuration/0/values/ipsecPsk';
      for (const ops of [
        [{ op: 'replace', path: pointer, value: given }],
        [{ op: 'test', path: pointer, value: given }],
        [{ op: 'add', path: '/comment', value: '__redacted__:hmac:000000000000' }],
      ])
        await rest('PATCH', `/drafts/${draft.id}`, { revision: draft.revision, ops });
      await rest('POST', '/tasks', { draftId: draft.id, revision: draft.revision });
      await rest('POST', '/tasks/start', { taskId: id, reason: 'hunts for canaries' });
      const body = { action: 'delete', taskIds: [id], reason: 'hunts for canaries' };
      tokens.push((await rest('POST', '/tasks/actions', body)).data.approvalToken);
      await tool('task_action_confirm', { approvalToken: tokens.at(-1) });
    }
    const entry = { plugin: { id: 12 }, values: { ipsecPsk: given } };
    for (const body of [{ task: { configuration: [entry] } }, { task: { ipsecPsk: given, configuration: [] } }]) {
      await rest('POST', '/drafts', body);
      await rest('POST', '/tasks/validate', body);
      await tool('task_create', body);
    }
    for (const path of ['/approvals', '/overview', '/whoami', '/audit?count=100', '/tasks', '/drafts', '/agents'])
      await rest('GET', path);
    expect(tokens.filter(Boolean).length).toBe(taskIds.length);
  });

  it('none is in an answer, a log, the audit, a notification or the database', async () => {
    const { data: audit } = await client.aiAdmin.activity({ query: { kind: 'audit', count: 100 } });
    const { data: notifications } = await client.notifications.list({ query: {} });
    expect(notifications.length).toBeGreaterThan(0);
    expect(await controller.kill('SIGTERM')).toBe(0);
    const logs = controller.output();
    expect(logs).toMatch(/"level":"\w+"/);
    const dump = dumpOf(cluster?.url, dataDir);
    expect(dump).toContain('profile ospf');
    const texts = {
      ...{ answers: answers.join('\n'), logs, audit: JSON.stringify(audit) },
      ...{ notifications: JSON.stringify(notifications), dump },
    };
    const hits: string[] = [];
    for (const [member, canaries] of planted) {
      // Secrets of an emulated network are no secrets of the installation: they are stored in clear.
      const isLab = member.startsWith('profile.');
      for (const [source, text] of Object.entries(texts)) {
        if (isLab && source === 'dump') continue;
        if (canaries.some((canary) => text.includes(canary))) hits.push(`${member} in ${source}`);
      }
    }
    for (const token of tokens) {
      for (const source of ['logs', 'audit', 'notifications', 'dump'] as const)
        if (texts[source].includes(token)) hits.push(`approval token in ${source}`);
    }
    expect(hits).toEqual([]);
  });
});
