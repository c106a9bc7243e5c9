import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { plugins } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../../store/agents/agents.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { storeRun } from '../testing/stored-run.ts';

const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };
const port = 28_080;
const longMs = 60_000;
const ready = ['dns', 'http', 'stateless-server', 'tcp', 'tls', 'udp'];

let controller: TestController;
let admin: SignedIn;
let [left, right] = [0, 0];

beforeAll(async () => {
  controller = await startTestController({ localAgents: 2 });
  admin = await controller.signIn();
  for (;;) {
    const { data } = await admin.client.agents.list({ query: { status: '1' } });
    if (data.length === 2) {
      [left, right] = data.map(({ id }) => id) as [number, number];
      return;
    }
    await sleep(200);
  }
}, longMs);
afterAll(() => controller?.close());

const entry = (values: Record<string, unknown> = {}) => ({
  plugin: { id: 1 },
  values: {
    sources: [{ agent: { id: left } }],
    targets: [{ agent: { id: right }, ports: String(port) }],
    requestsPerSecond: 100,
    duration: { mode: 'time', seconds: 30 },
    ...values,
  },
});
/** On a busy machine agents seem to have clock offsets at times; these warnings are left out. */
const validateAs = async ({ client }: SignedIn, body: Record<string, unknown>, live = false) => {
  const { data } = await client.tasks.validate({ body: body as never, query: { live } });
  const isNoise = ({ code, agentId }: (typeof data.issues)[number]) =>
    code === 'CLOCK_OFFSET' && (agentId === left || agentId === right);
  return { ...data, issues: data.issues.filter((issue) => !isNoise(issue)) };
};
const validate = (body: Record<string, unknown>, live = false) => validateAs(admin, body, live);
const draft = (...entries: object[]) => ({ configuration: entries });
const linesOf = ({ issues }: Awaited<ReturnType<typeof validate>>) =>
  issues.map(({ severity, path, code }) => `${severity} ${path.replace('/configuration/0/values/', '')} ${code}`);
const keepAgent = (id: number, values: object) =>
  controller.store.change(origin, (tx) => agents.update(tx, id, values));

describe('validation', () => {
  it('finds a sound draft valid and says what it will do', async () => {
    const found = await validate(draft(entry()));
    expect(found).toMatchObject({
      valid: true,
      issues: [],
      conflicts: [],
      estimate: { agents: 2, clientIps: 1, connections: 50, pps: 200, durationSec: 30, dumpBytes: 0 },
    });
  });

  it('tells everything that is wrong at once, each once', async () => {
    const found = await validate(
      draft(entry({ targets: [{ ip: '8.8.8.8' }], sources: [{ agent: { id: 9999 } }] }), { plugin: { id: 14 } }),
    );
    expect(found.valid).toBe(false);
    expect(found.issues.map(({ path, code }) => `${path} ${code}`).toSorted()).toEqual([
      '/configuration/0/values/sources/0/agent/id AGENT_UNKNOWN',
      '/configuration/1/values/sources REQUIRED',
      '/configuration/1/values/targets REQUIRED',
    ]);
    expect(linesOf(await validate(draft(entry({ targets: [{ ip: '8.8.8.8' }] }))))).toEqual([
      'error targets/0 TARGET_NOT_ALLOWED',
    ]);
  });

  it('takes a task as it was read, or its id', async () => {
    const { data: id } = await admin.client.tasks.create({ body: draft(entry()) as never });
    const { data: task } = await admin.client.tasks.get({ params: { id } });
    expect(await validate({ id })).toMatchObject({ valid: true });
    expect(await validate({ ...task, comment: 'another' })).toMatchObject({ valid: true });
    await expect(validate({ id: 987_654 })).rejects.toMatchObject({ status: 404 });
    await expect(validate({ nonsense: 1 })).rejects.toMatchObject({ status: 400 });
  });

  it('names the tasks that use the same agents meanwhile', async () => {
    const { data: id } = await admin.client.tasks.create({ body: draft(entry()) as never });
    const { data: other } = await admin.client.tasks.create({ body: draft(entry()) as never });
    await storeRun(controller.store, other, { status: 1 });
    const at = new Date(Date.now() + 10_000).toISOString();
    const { data: third } = await admin.client.tasks.create({ body: draft(entry()) as never });
    await admin.client.tasks.schedule({ body: { id: third, at, timezone: 'UTC' } });
    const { conflicts, valid } = await validate({ id });
    expect(valid).toBe(true);
    const pairs = conflicts.map(({ taskID, agentID }) => `${taskID} ${agentID}`).toSorted();
    expect(pairs).toEqual(
      [`${other} ${left}`, `${other} ${right}`, `${third} ${left}`, `${third} ${right}`].toSorted(),
    );
    expect(conflicts.find(({ taskID }) => taskID === third)).toMatchObject({ from: at });
    await admin.client.tasks.unschedule({ params: { id: third } });
  });

  it('warns of agents that others have, and makes it an error when asked live', async () => {
    const other = await controller.signInWith(admin, [31, 41]);
    await keepAgent(left, { reservedBy: 1, reservedUntil: '2999-01-01T00:00:00.000Z', maxConcurrentTasks: 0 });
    const as = async (live: boolean) => linesOf(await validateAs(other, draft(entry()), live));
    expect(await as(false)).toEqual(['warning sources/0 AGENT_RESERVED']);
    expect(await as(true)).toEqual(['error sources/0 AGENT_RESERVED']);
    expect(linesOf(await validate(draft(entry())))).toEqual([]);
    await keepAgent(left, { reservedBy: null, reservedUntil: null });
  });
});

describe('validation with the agents', () => {
  it('finds nothing when everything can be prepared', async () => {
    expect(await validate(draft(entry()), true)).toMatchObject({ valid: true, issues: [] });
  });

  it('prepares the examples of all plugins that can run, by TLS and from whole networks too', async () => {
    const { data: certificateID } = await admin.client.certificates.create({
      body: { name: 'server', generate: { kind: 'self-signed', subject: 'CN=localhost' } },
    });
    const { data: id } = await admin.client.networks.create({ body: { name: 'clients', subnet: '10.217.0.0/28' } });
    const { data: farm } = await admin.client.networks.create({ body: { name: 'servers', subnet: '10.217.1.0/29' } });
    const { data: dictionaryId } = await admin.client.dictionaries.create({
      body: { name: 'names', type: 'list', values: ['a.test', 'b.test'] },
    });
    const dns = entry({ dnsParams: { dictionaryId, transport: 'doh' } });
    const runnable = plugins.filter(({ engines }) => engines.length > 0 && engines.every((one) => ready.includes(one)));
    const examples = runnable.flatMap(({ id: plugin, examples: all }) =>
      all.map((values) => ({ plugin: { id: plugin }, values })),
    );
    const special = [
      { ...dns, plugin: { id: 4 } },
      entry({ tlsParams: { certificateID }, targets: [{ agent: { id: right }, ports: '28443' }] }),
      entry({
        sources: [{ agent: { id: left }, network: { id } }],
        targets: [{ agent: { id: right }, network: { id: farm } }],
      }),
      entry({ sources: [left, right].map((agent) => ({ agent: { id: agent }, network: { id } })) }),
    ];
    expect(examples.length).toBeGreaterThan(8);
    for (const one of [...examples, ...special]) {
      const text = JSON.stringify(one).replaceAll('"agent":{"id":1}', `"agent":{"id":${left}}`);
      const configured = JSON.parse(text.replaceAll('"agent":{"id":2}', `"agent":{"id":${right}}`));
      expect({ configured, issues: (await validate(draft(configured), true)).issues }).toEqual({
        configured,
        issues: [],
      });
    }
  });

  it('finds a port that is taken', async () => {
    const blocker = createServer().listen(port, '127.0.0.1');
    await once(blocker, 'listening');
    const found = await validate(draft(entry()), true);
    blocker.close();
    expect(found.issues).toMatchObject([
      { severity: 'error', code: 'PORT_IN_USE', path: '/configuration/0/values/targets/0', agentId: right },
    ]);
  });

  it('says which files an agent still has to get', async () => {
    const { data: fileId } = await admin.client.files.create({
      body: { name: 'body.txt', category: 'payload', content: Buffer.from('hello').toString('base64') },
    });
    const found = await validate(draft(entry({ httpParams: { body: { type: 'file', fileId } } })), true);
    expect(found).toMatchObject({
      valid: true,
      issues: [
        {
          severity: 'info',
          code: 'FILE_NOT_ON_AGENT',
          agentId: left,
          message: '5 bytes have to be sent to the agent first',
        },
      ],
    });
  });

  it('misses agents that are away', async () => {
    const gone = await controller.store.change(origin, async (tx) => {
      const [present] = await agents.findMany(tx, [right]);
      const { id: _, issuer: __, ownerEmail: ___, ownerName: ____, ...row } = present as NonNullable<typeof present>;
      return agents.insert(tx, {
        ...row,
        uuid: 'gone',
        name: 'gone',
        status: 4,
        machineId: 'elsewhere',
        clockOffsetMs: -120,
        roundTripMs: 2,
        addresses: ['10.77.0.1'],
      });
    });
    const away = draft(entry({ targets: [{ agent: { id: gone } }] }));
    expect(linesOf(await validate(away))).toEqual([
      'warning targets/0/agent/id AGENT_OFFLINE',
      'warning targets/0 CLOCK_OFFSET',
    ]);
    expect(linesOf(await validate(away, true))).toContain('error targets/0 AGENT_OFFLINE');
  });
});
