import {
  aiScopes,
  api,
  type Collection,
  type ConfigurationEntry,
  type Permission,
  permissions,
  type Route,
  resourceKinds,
  toOpenApi,
} from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTestKey } from '../ai/gateway/testing/key.ts';
import { storeAgent } from '../tasks/testing/stored-agent.ts';
import { enrolTestAgent } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

// Not who may call which route, but who can bring about an effect, by whatever route.

let controller: TestController;
let administrator: SignedIn;
let agent: number;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  await administrator.client.settings.update({ body: { limits: { rate: 1_000_000 } } });
  agent = await storeAgent(controller.store, {
    engines: ['http', 'cve-replay', 'malware-transfer', 'compromised-host', 'fuzzing', 'waf'],
  });
});
afterAll(() => controller.close());

/** A user with every permission but these. */
const withoutPermissions = (...missing: Permission[]) => {
  const held = Object.entries(permissions).filter(
    ([name]) => name !== 'system.admin' && !missing.includes(name as Permission),
  );
  return controller.signInWith(
    administrator,
    held.map(([, value]) => value),
  );
};

const runsOf = async () =>
  Number((await controller.store.read.run({ name: '', sql: 'select count(*) as n from runs' }, []))[0]?.['n']);

const ends = () => ({ sources: [{ agent: { id: agent } }], targets: [{ agent: { id: agent } }] });
const createTask = async (entry: ConfigurationEntry) =>
  (await administrator.client.tasks.create({ body: { configuration: [entry] } })).data;

/** Secrets that are stored; where one appears, it has leaked. */
const canaries: Record<string, string> = {
  header: 'canary-of-a-header',
  cookie: 'canary-of-a-cookie',
  psk: 'canary-of-a-task',
  tunnel: 'canary-of-a-tunnel',
  mail: 'canary-of-the-mail',
  webhook: 'canary-of-a-webhook',
  file: 'canary-in-a-file',
};
const aiLimits = { requestsPerMin: 100_000, writesPerMin: 100_000, parallel: 100 };
const leaksIn = (bytes: Buffer) =>
  Object.entries(canaries).flatMap(([name, canary]) => (bytes.includes(canary) ? [name] : []));

describe('reading a secret', () => {
  let fileId: number;
  beforeAll(async () => {
    const { client } = administrator;
    const httpParams = {
      headers: [{ name: 'Authorization', value: `Bearer ${canaries['header']}` }],
      cookies: [{ name: 'session', value: canaries['cookie'] }],
    };
    const taskId = await createTask({ plugin: { id: 1 }, values: { ...ends(), requestsPerSecond: 1, httpParams } });
    expect(taskId).toBe(1);
    await createTask({ plugin: { id: 12 }, values: { ...ends(), ipsecPsk: canaries['psk'] as string } });
    await client.tunnels.create({
      body: { name: 't', type: 'ipsec', params: { authMethod: 'psk', psk: canaries['tunnel'] } } as never,
    });
    const generate = { kind: 'ca', subject: 'CN=canary.test', keyType: 'ecdsa-p256' };
    const { data: id } = await client.certificates.create({ body: { name: 'ca', generate } as never });
    const { data } = await client.certificates.get({ params: { id }, query: { include: 'private' } as never });
    canaries['certificate'] = data.private.split('\n')[1] as string;
    const webhooks = [{ url: 'http://127.0.0.1:9/', events: ['settings.changed'], secret: canaries['webhook'] }];
    await client.settings.update({ body: { webhooks, mail: { password: canaries['mail'] } } as never });
    const content = Buffer.from(`${canaries['file']}\n`.repeat(20)).toString('base64');
    ({ data: fileId } = await client.files.create({ body: { name: 'letter.txt', category: 'other', content } }));
  });

  const queries = ['', '?include=private', '?view=full', '?count=100&offset=0'];

  /** The canaries in the answers to all reads of the contract, or to those below these paths. */
  const found = async (user: SignedIn, ...below: string[]) => {
    const routes = (Object.values(api) as Collection[])
      .flatMap((collection) => Object.values(collection.routes) as Route[])
      .filter(({ method, events, ai }) => method === 'GET' && !events && !ai)
      .filter(({ path }) => below.length === 0 || below.some((start) => path.startsWith(start)));
    const seen = new Set<string>();
    let reads = 0;
    for (const { path } of routes) {
      for (const query of queries) {
        const response = await user.send(
          `${controller.url}/v1${path.replace(/:\w+/g, path.startsWith('/files') ? String(fileId) : '1')}${query}`,
        );
        const bytes = Buffer.from(await response.arrayBuffer());
        reads += response.status === 200 ? 1 : 0;
        for (const name of leaksIn(bytes)) seen.add(name);
      }
    }
    expect(reads).toBeGreaterThan(below.length === 0 ? 60 : 2);
    return [...seen].sort();
  };

  it('needs the permission for it, whatever else a user may do', async () => {
    const user = await withoutPermissions('certificates.private', 'files.download');
    expect(await found(user)).toEqual([]);
  });

  it('is possible with the permission, only for keys of certificates and contents of files', async () => {
    const paths = ['/files', '/certificates'] as const;
    expect(await found(await withoutPermissions('files.download'), ...paths)).toEqual(['certificate']);
    expect(await found(await withoutPermissions('certificates.private'), ...paths)).toEqual(['file']);
    expect(await found(administrator, ...paths)).toEqual(['certificate', 'file']);
  });

  it('is not possible for AI keys, whatever their scopes and their owner', async () => {
    const { secret } = await newTestKey(controller, administrator, { scopes: [...aiScopes], limits: aiLimits });
    const routes = (Object.values(api.aiGateway.routes) as Route[]).filter(({ method }) => method === 'GET');
    const paths = routes.flatMap(({ path }) =>
      (path.includes(':kind') ? resourceKinds : ['']).map((kind) =>
        path.replace(':kind', kind).replace(':name', 'task').replace(/:\w+/g, '1'),
      ),
    );
    let reads = 0;
    const asked = paths.flatMap((path) => {
      const wanted = path.endsWith('/resources') ? resourceKinds.map((kind) => `?kind=${kind}`) : ['', '?view=full'];
      return wanted.map((query) => path + query);
    });
    for (const path of asked) {
      const response = await fetch(`${controller.url}/v1${path}`, { headers: { 'x-api-key': secret } });
      reads += response.status === 200 ? 1 : 0;
      expect([path, leaksIn(Buffer.from(await response.arrayBuffer()))]).toEqual([path, []]);
    }
    expect(reads).toBeGreaterThan(20);
  });

  it('of a task in an export needs a permission of its own, and is sealed even then', async () => {
    const url = `${controller.url}/v1/tasks/1/export?secrets=encrypted`;
    const headers = { 'x-export-passphrase': 'correct horse battery staple' };
    const refused = await (await withoutPermissions('tasks.exportSecrets')).send(url, { headers });
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { data: { permission: 'tasks.exportSecrets' } },
    ]);
    const granted = await (await withoutPermissions()).send(url, { headers });
    const bytes = Buffer.from(await granted.arrayBuffer());
    expect([granted.status, bytes.includes('secrets.json'), bytes.includes('canary')]).toEqual([200, true, false]);
  });
});

describe('sending traffic', () => {
  const http = () => ({ plugin: { id: 1 }, values: { ...ends(), requestsPerSecond: 1 } });
  /** Every way to make a task run, now or later. */
  const starts = (id: number): Record<string, [method: string, path: string, body: object]> => ({
    start: ['POST', `/tasks/${id}/start`, {}],
    restart: ['POST', `/tasks/${id}/restart`, {}],
    action: ['POST', '/tasks/actions', { array: [id], action: 'start' }],
    schedule: ['PATCH', '/tasks/schedule', { id, at: new Date(Date.now() + 1000).toISOString() }],
    signature: ['POST', '/cve/1/test', { clientAgentID: agent, serverAgentID: agent }],
  });
  const tryAll = async (user: SignedIn, id: number) => {
    const statuses: Record<string, number> = {};
    for (const [name, [method, path, body]] of Object.entries(starts(id))) {
      const headers = { 'content-type': 'application/json' };
      const response = await user.send(`${controller.url}/v1${path}`, { method, headers, body: JSON.stringify(body) });
      statuses[name] = response.status;
    }
    return statuses;
  };

  it('needs the permission to execute, whichever way it is begun', async () => {
    const user = await withoutPermissions('tasks.execute', 'cve.execute');
    const statuses = await tryAll(user, await createTask(http()));
    expect(Object.values(statuses)).toEqual(Object.keys(statuses).map(() => 403));
    expect(await runsOf()).toBe(0);
  });

  it.each([
    ['cve-replay', 'cve.execute'],
    ['malware-transfer', 'malware.execute'],
    ['compromised-host', 'compromisedHost.execute'],
    ['fuzzing', 'tasks.executeHazardous'],
  ] as const)('of %s needs %s, too', async (plugin, permission) => {
    const { plugins } = await import('@rushhour/contract');
    const { id, examples } = plugins.find(({ name }) => name === plugin) as (typeof plugins)[number];
    const taskId = await controller.store.change(
      { userId: 1, address: '', requestId: '', operation: 'test' },
      async (tx) => {
        const { insertTask } = await import('../tasks/records/write-task.ts');
        const configuration = [{ plugin: { id }, values: { ...examples[0], ...ends() } }] as ConfigurationEntry[];
        const rest = { accessPlane: [], controlPlane: [], dumps: {}, comment: plugin, projectID: null, thresholds: [] };
        return insertTask(tx, controller.store.secrets, { ...rest, configuration } as never);
      },
    );
    const before = await runsOf();
    const user = await withoutPermissions(permission);
    const body = { reason: 'a test' };
    await expect(user.client.tasks.start({ params: { id: taskId }, body })).rejects.toMatchObject({
      ...{ status: 403, data: { permission } },
    });
    expect(await runsOf()).toBe(before);
  });

  it('to another place than the agents needs a setting that only those who may write settings can change', async () => {
    const user = await withoutPermissions('settings.write');
    const values = {
      sources: [{ agent: { id: agent } }],
      targets: [{ ip: '198.51.100.7', ports: '80' }],
      requestsPerSecond: 1,
    };
    const id = await createTask({ plugin: { id: 1 }, values } as never);
    await expect(user.client.tasks.start({ params: { id }, body: {} })).rejects.toMatchObject({ status: 400 });
    await expect(
      user.client.settings.update({ body: { tasks: { allowedTargets: ['198.51.100.0/24'] } } as never }),
    ).rejects.toMatchObject({ status: 403 });
    expect(await runsOf()).toBe(0);
  });
});

describe('making code run', () => {
  it('on agents and on the controller is only possible by upgrades, which administrators may do', async () => {
    const user = await withoutPermissions('agents.upgrade');
    const body = { array: [agent], action: 'upgrade' as const, params: { fileId: 1 } };
    await expect(user.client.agents.actions({ body })).rejects.toMatchObject({
      ...{ status: 403, data: { permission: 'agents.upgrade' } },
    });
    await expect(
      user.client.agents.createToken({ body: { name: 'x', ttlSec: 60, maxUses: 1 } }),
    ).resolves.toBeDefined();
    const powerless = await withoutPermissions('agents.upgrade', 'agents.enrol');
    await expect(
      powerless.client.agents.createToken({ body: { name: 'x', ttlSec: 60, maxUses: 1 } }),
    ).rejects.toMatchObject({ status: 403 });
  });
});

describe('every route that writes', () => {
  interface Operation {
    readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  }
  const executing: Permission[] = [
    ...(['tasks.execute', 'tasks.executeHazardous', 'cve.execute', 'malware.execute'] as const),
    ...(['compromisedHost.execute', 'agents.upgrade'] as const),
  ];

  const secretive: Permission[] = ['certificates.private', 'files.download', 'tasks.exportSecrets'];

  /** The first member of the example of a body that names records: all of them exist or none does. */
  const withIds = (example: unknown, ids: Readonly<Record<string, unknown>>) =>
    typeof example === 'object' && example !== null && !Array.isArray(example)
      ? Object.fromEntries(Object.entries(example).map(([name, value]) => [name, ids[name] ?? value]))
      : example;

  /** Statuses of all answers, none of which shows a secret. */
  const walk = async (user: SignedIn, ids: { task: number; agent: number }) => {
    const { paths } = toOpenApi(api, 'test') as unknown as { paths: Record<string, Record<string, Operation>> };
    const statuses: number[] = [];
    for (const [path, operations] of Object.entries(paths)) {
      // Signing out and deleting would only end the walk.
      if (path.startsWith('/v1/auth') || path.includes('/ai')) continue;
      for (const [method, { requestBody }] of Object.entries(operations)) {
        if (!['post', 'patch', 'put'].includes(method)) continue;
        const number = path.startsWith('/v1/agents') ? ids.agent : ids.task;
        const example = requestBody?.content['application/json']?.example;
        const body = JSON.stringify(withIds(example, { id: number, array: [number] }) ?? {});
        const url = `${controller.url}${path.replace(/\{\w+\}/g, String(number))}`;
        const headers = { 'content-type': 'application/json' };
        const response = await user.send(url, { method: method.toUpperCase(), headers, body });
        expect([method, path, leaksIn(Buffer.from(await response.arrayBuffer()))]).toEqual([method, path, []]);
        statuses.push(response.status);
      }
    }
    return statuses;
  };

  it('with its example sends no traffic and runs no code for a user who may do neither', async () => {
    const online = await enrolTestAgent(administrator.client, { url: controller.url });
    const values = { sources: [{ agent: { id: online.agentId } }], targets: [{ agent: { id: online.agentId } }] };
    const task = await createTask({ plugin: { id: 1 }, values: { ...values, requestsPerSecond: 1 } });
    const ids = { task, agent: online.agentId };
    const before = await runsOf();
    const statuses = await walk(await withoutPermissions(...executing), ids);
    expect(statuses.length).toBeGreaterThan(70);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(15);
    expect(await runsOf()).toBe(before);
    const received = online.messages.map((message) =>
      message.type === 'question' ? message.question.kind : message.type,
    );
    for (const order of ['prepare', 'start', 'upgrade']) expect(received).not.toContain(order);
    // The first records are those with secrets.
    await walk(await withoutPermissions(...executing, ...secretive), { ...ids, task: 1 });
    // A user who may execute tasks begins one by the same walk.
    await walk(await withoutPermissions(), ids);
    expect(await runsOf()).toBeGreaterThan(before);
    await online.close();
  });
});
