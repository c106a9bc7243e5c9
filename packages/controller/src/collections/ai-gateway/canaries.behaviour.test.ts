import { aiScopes, api, type Route, resourceKinds } from '@rushhour/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { type Answer, newTestKey } from './testing/key.ts';

let controller: TestController;
let administrator: SignedIn;
let key: Awaited<ReturnType<typeof newTestKey>>;
const limits = { requestsPerMin: 100_000, writesPerMin: 100_000, parallel: 100 };
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  key = await newTestKey(controller, administrator, { scopes: [...aiScopes], limits });
});
afterAll(() => controller.close());

const canary = (name: string) => `CANARY-${name}-7f3a`;
const hexCanary = 'caca'.repeat(16);
const hunted = /CANARY-|caca(caca){7}|PRIVATE KEY/;

const callTool = async (name: string, given: object) => {
  const response = await fetch(`${controller.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-api-key': key.secret,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
  });
  return response.text();
};

/** Records with a secret in every place there is. */
const plant = async () => {
  const { client } = administrator;
  await client.tunnels.create({
    body: { name: 'tunnel', type: 'ipsec', params: { authMethod: 'psk', psk: canary('psk') } } as never,
  });
  await client.certificates.create({ body: { name: 'certificate', generate: {} } as never }).catch(() => undefined);
  const secrets = { ipsecPsk: canary('task-psk'), ipsecKey: hexCanary, ipsecCipherKey: hexCanary };
  const found = await controller.store.change(
    { userId: 1, address: '', requestId: '', operation: 'test' },
    async (tx) => {
      const { sealConfiguration } = await import('../../store/configuration-secrets.ts');
      const { tasks } = await import('../../store/tasks.ts');
      const id = await tasks.insert(tx, {
        ...{ comment: 'holds secrets', status: 0, error: '', projectID: null, accessPlane: [], controlPlane: [] },
        ...{ configuration: [], configurationSecrets: {}, dumps: {}, thresholds: [], lastRunID: null },
        ...{ scheduleEnabled: false, startedAt: null, finishedAt: null, deletedAt: null },
      });
      const configuration = [{ plugin: { id: 1 }, values: secrets }];
      await tasks.update(tx, id, sealConfiguration(configuration, controller.store.secrets, { table: 'tasks', id }));
      return id;
    },
  );
  return found;
};

it('no secret leaves by the gateway, by MCP or into the audit', async () => {
  const taskId = await plant();
  const answers: Answer[] = [];
  for (const { method, path } of Object.values(api.aiGateway.routes) as Route[]) {
    if (method !== 'GET' || path.includes(':kind') || path.includes(':name')) continue;
    const own = path.replace('/ai/gateway', '').replace(/:\w+/g, String(path.includes('/tasks') ? taskId : 1));
    const search = path.endsWith('/resources') ? '?kind=tunnel' : '';
    answers.push(await key.call('GET', own + search));
  }
  answers.push(await key.call('GET', `/tasks/${taskId}?view=full`));
  answers.push(await key.call('GET', `/tasks/${taskId}?path=/configuration/0/values`));
  for (const kind of resourceKinds) {
    answers.push(await key.call('GET', `/resources?kind=${kind}`));
    answers.push(await key.call('GET', `/resources/${kind}/1?view=full`));
  }
  answers.push(
    await key.call('POST', '/drafts', {
      task: { configuration: [{ plugin: { id: 1 }, values: { ipsecPsk: canary('given') } }] },
    }),
  );
  answers.push(
    await key.call('POST', '/tasks/validate', {
      task: { configuration: [{ plugin: { id: 1 }, values: { ipsecPsk: canary('given') } }] },
    }),
  );
  for (const { body } of answers) expect(JSON.stringify(body ?? '')).not.toMatch(hunted);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(20);
  const values = await key.call('GET', `/tasks/${taskId}?path=/configuration/0/values`);
  expect(values.body.data.ipsecPsk).toMatch(/^__redacted__:hmac:[0-9a-f]{12}$/);

  expect(await callTool('task_get', { id: taskId, view: 'full' })).not.toMatch(hunted);
  expect(await callTool('resource_get', { kind: 'tunnel', id: 1, view: 'full' })).not.toMatch(hunted);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { data } = await administrator.client.aiAdmin.activity({ query: { kind: 'audit', count: 100 } });
  expect(data.length).toBeGreaterThan(20);
  expect(JSON.stringify(data)).not.toMatch(hunted);
});

it('answers of lists and details are short', async () => {
  for (const path of [
    '/whoami',
    '/capabilities',
    '/overview',
    '/agents',
    '/tasks',
    '/schemas/task',
    '/audit',
    '/approvals',
  ]) {
    const { body } = await key.call('GET', path);
    expect([path, JSON.stringify(body).length <= 16 * 1024]).toEqual([path, true]);
  }
});

it('every kind of record that exists can be found and read', async () => {
  await administrator.client.networks.create({
    body: { name: 'lab', type: 1, ipVersion: 'ipv4', subnet: '10.9.0.0/24' } as never,
  });
  const kinds: string[] = [];
  for (const kind of ['network', 'tunnel', 'dictionary', 'template']) {
    const { body } = await key.call('GET', `/resources?kind=${kind}&count=1`);
    const { id, fingerprint } = body.data[0];
    const found = await key.call('GET', `/resources/${kind}/${id}`);
    expect([kind, found.status, found.body.data?.fingerprint]).toEqual([kind, 200, fingerprint]);
    kinds.push(kind);
  }
  expect(kinds).toHaveLength(4);
});
