import type { TaskDraft } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { smallCapture } from '../../assets/files/testing/captures.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { storeAgent } from '../testing/stored-agent.ts';
import { allBuiltin } from './builtin/all-builtin.ts';
import { httpRate } from './builtin/traffic/http-rate.ts';

let controller: TestController;
let administrator: SignedIn;
let templates: SignedIn['client']['taskTemplates'];
let tasks: SignedIn['client']['tasks'];
let client: number;
let server: number;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  ({ taskTemplates: templates, tasks } = administrator.client);
  client = await storeAgent(controller.store, { name: 'near', interfaces: [1] });
  server = await storeAgent(controller.store, { name: 'far' });
});
afterAll(() => controller.close());

const { description, tags, task, slots, parameters } = httpRate;
const draft = (name: string, more = {}) => ({ name, description, tags, task, slots, parameters, ...more });
const create = async (name: string, more = {}) => (await templates.create({ body: draft(name, more) })).data;
const get = async (id: number) => (await templates.get({ params: { id } })).data;
const createNetwork = async (name: string, subnet: string) =>
  (await administrator.client.networks.create({ body: { name, subnet } })).data;
const upload = async (category: 'pcap' | 'har', content: BlobPart) => {
  const fields = { category };
  const options = { upload: { fields, file: new Blob([content]), filename: `a.${category}` } };
  return (await administrator.client.files.create(options)).data;
};
const createProfile = async (type: string, config: object) =>
  (await administrator.client.dictionaries.create({ body: { name: type, type, config } as never })).data;
const createSignature = async () => {
  const requests = [{ idx: 0, kind: 'http', method: 'GET', path: '/probe' }];
  return (await administrator.client.cve.create({ body: { name: 'Probe', requests } as never })).data;
};
const createCertificate = async () => {
  const generate = { kind: 'self-signed', subject: 'CN=server.test', validDays: 10 } as const;
  return (await administrator.client.certificates.create({ body: { name: 'Server', generate } })).data;
};
const http = (values: object = {}): TaskDraft['configuration'][number] => ({
  plugin: { id: 1 },
  values: {
    sources: [{ agent: { id: client } }],
    targets: [{ agent: { id: server } }],
    requestsPerSecond: 100,
    ...values,
  },
});

describe('task templates', () => {
  it('are created, read back, listed, changed and deleted', async () => {
    const id = await create('Mine', { tags: 'lab,web' });
    const stored = await get(id);
    expect(stored).toMatchObject({ id, name: 'Mine', tags: 'lab,web', task, slots, parameters, builtIn: false });
    expect(stored.issuer).toMatchObject({ email: 'admin@example.test' });
    await templates.update({ body: { id, name: 'Ours', description: null, updatedAt: stored.updatedAt } });
    expect(await get(id)).toMatchObject({ name: 'Ours', description: '', tags: 'lab,web', task });
    await expect(templates.update({ body: { id, name: 'x', updatedAt: stored.updatedAt } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
    const named = async (query: object) => (await templates.list({ query })).data.map(({ name }) => name);
    expect(await named({ tag: 'lab' })).toEqual(['Ours']);
    expect(await named({ tag: 'la' })).toEqual([]);
    expect(await named({ search: 'OURS' })).toEqual(['Ours']);
    const light = (await templates.all()).data.find((template) => template.id === id);
    expect(light).toMatchObject({ name: 'Ours', task: {}, slots });
    expect(await templates.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(templates.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(templates.removeMany({ body: { array: [id] } })).rejects.toMatchObject({
      status: 404,
      data: { missing: [id] },
    });
  });

  it('take back a whole record, and the task in it as it was read', async () => {
    const id = await create('Whole');
    const { id: _, name: __, ...record } = await get(id);
    const copy = await create('Whole again', record);
    expect(await get(copy)).toMatchObject({ task, builtIn: false });
    const { data: taskId } = await tasks.create({ body: { comment: 'read', configuration: [http()] } });
    const { data: read } = await tasks.get({ params: { id: taskId } });
    const literal = await create('Literal', { task: read, slots: [], parameters: [] });
    expect(Object.keys((await get(literal)).task).sort()).toEqual([
      'accessPlane',
      'comment',
      'configuration',
      'controlPlane',
      'device',
      'dumps',
    ]);
    await templates.removeMany({ body: { array: [id, copy, literal] } });
  });

  it('have names of their own', async () => {
    const id = await create('Taken');
    await expect(create('Taken')).rejects.toMatchObject({ status: 400, data: { issues: [{ path: '/name' }] } });
    await templates.removeMany({ body: { array: [id] } });
  });

  it('are refused with every problem, and stay as they were', async () => {
    await expect(create('Bad', { slots: slots.slice(1), parameters: parameters.slice(1) })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/task/configuration/0/values/sources/0/agent/id', code: 'SLOT_UNDECLARED' },
          { path: '/task/configuration/0/values/requestsPerSecond', code: 'PARAMETER_UNDECLARED' },
        ],
      },
    });
    const id = await create('Good');
    await expect(templates.update({ body: { id, parameters: null } })).rejects.toMatchObject({ status: 400 });
    expect((await get(id)).parameters).toEqual(parameters);
    await templates.removeMany({ body: { array: [id] } });
  });

  it('have only thresholds of metrics that their plugins report', async () => {
    const threshold = { name: 'x', metric: 'dns.latency', aggregation: 'p99', operator: '<', value: 1 };
    const wrong = (one: object) => create('Judged', { task: { ...task, thresholds: [one] } });
    await expect(wrong(threshold)).rejects.toMatchObject({
      ...{ status: 400, data: { issues: [{ path: '/task/thresholds/0/metric', code: 'METRIC_UNKNOWN' }] } },
    });
    await expect(wrong({ name: 'x' })).rejects.toMatchObject({ status: 400 });
  });

  it('hold on to the records they name', async () => {
    const network = await createNetwork('Clients', '10.7.0.0/24');
    const configuration = [http({ sources: [{ agent: { id: { $slot: 'client' } }, network: { id: network } }] })];
    const more = { task: { configuration }, slots: slots.slice(0, 1), parameters: [] };
    const id = await create('With network', more);
    await expect(administrator.client.networks.removeMany({ body: { array: [network] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'template', id, name: 'With network' }] },
    });
    await templates.removeMany({ body: { array: [id] } });
    await administrator.client.networks.removeMany({ body: { array: [network] } });
    await expect(create('Without', more)).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [{ path: '/task/configuration/0/values/sources/0/network/id', code: 'NETWORK_UNKNOWN' }],
      },
    });
  });

  it('need the permissions to read and to write them', async () => {
    const reader = await controller.signInWith(administrator, [51]);
    expect((await reader.client.taskTemplates.all()).cursor.totalRows).toBeGreaterThan(0);
    await expect(reader.client.taskTemplates.create({ body: draft('No') })).rejects.toEqual(refused(403, 'FORBIDDEN'));
  });
});

describe('a template of a task', () => {
  it('has its agents as slots and becomes the same task again', async () => {
    const { data: source } = await tasks.create({ body: { comment: 'Model', configuration: [http()] } });
    const { data: id } = await templates.create({ body: { name: 'Of a task', sourceTaskID: source } });
    const made = await get(id);
    expect(made.slots).toEqual([
      { name: 'client1', role: 'client', requires: ['http'] },
      { name: 'server1', role: 'server', requires: ['http'] },
    ]);
    const { data: copy } = await tasks.fromTemplate({
      body: { templateID: id, agentMap: { client1: client, server1: server } },
    });
    const [model, again] = await Promise.all([source, copy].map((taskId) => tasks.get({ params: { id: taskId } })));
    expect(again?.data).toMatchObject({ comment: 'Model', configuration: model?.data.configuration });
    await templates.removeMany({ body: { array: [id] } });
  });

  it('gives its tasks the thresholds of that task, those of an agent to the agent of its slot', async () => {
    const { data: source } = await tasks.create({ body: { configuration: [http()] } });
    const failures = { name: 'No failures', metric: 'http.ko', aggregation: 'sum', operator: '==', value: 0 } as const;
    const near = { ...failures, name: 'Near', scope: { agentID: client } };
    await tasks.setThresholds({ body: { id: source, thresholds: [failures, near] } });
    const { data: templateID } = await templates.create({ body: { name: 'Judged', sourceTaskID: source } });
    const agentMap = { client1: server, server1: client };
    const { data: id } = await tasks.fromTemplate({ body: { templateID, agentMap } });
    const { data: thresholds } = await tasks.thresholds({ params: { id } });
    expect(thresholds).toMatchObject([failures, { ...near, scope: { agentID: server } }]);
    await templates.removeMany({ body: { array: [templateID] } });
  });

  it('needs a task that is there, the permission to read it, and nothing beside it', async () => {
    await expect(templates.create({ body: { name: 'x', sourceTaskID: 999_999 } })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
    const { data: source } = await tasks.create({ body: { configuration: [http()] } });
    await expect(
      templates.create({ body: { name: 'x', sourceTaskID: source, slots: [], task: {} } }),
    ).rejects.toMatchObject({ status: 400, data: { issues: [{ path: '/task' }, { path: '/slots' }] } });
    const writer = await controller.signInWith(administrator, [51, 52]);
    await expect(
      writer.client.taskTemplates.create({ body: { name: 'x', sourceTaskID: source } }),
    ).rejects.toMatchObject({ status: 403, data: { permission: 'tasks.read' } });
  });

  it('asks for the secrets of the task anew', async () => {
    const entry = { ...http({ ipsecPsk: 'only the two know' }), plugin: { id: 12 } };
    delete (entry.values as Record<string, unknown>)['requestsPerSecond'];
    const { data: source } = await tasks.create({ body: { configuration: [entry] } });
    const { data: id } = await templates.create({ body: { name: 'Secret', sourceTaskID: source } });
    const made = await get(id);
    expect(JSON.stringify(made)).not.toContain('only the two know');
    expect(made.parameters).toMatchObject([{ name: 'ipsecPsk1', type: 'string' }]);
    const agentMap = { client1: client, server1: server };
    await expect(tasks.fromTemplate({ body: { templateID: id, agentMap } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/parameters/ipsecPsk1', code: 'PARAMETER_UNFILLED' }] },
    });
    const { data: copy } = await tasks.fromTemplate({
      body: { templateID: id, agentMap, parameters: { ipsecPsk1: 'another long word' } },
    });
    const { data: read } = await tasks.get({ params: { id: copy } });
    expect(read.configuration[0]?.values?.ipsecPsk).toBe('********');
    await templates.removeMany({ body: { array: [id] } });
  });
});

describe('built-in templates', () => {
  it('are there from the first start and cannot be changed or deleted', async () => {
    const builtIn = (await templates.all()).data.filter((template) => template.builtIn);
    expect(builtIn.map(({ name }) => name)).toEqual(allBuiltin.map(({ name }) => name));
    const { id } = builtIn[0] as { id: number };
    await expect(templates.update({ body: { id, name: 'Mine' } })).rejects.toEqual(refused(409, 'BUILT_IN'));
    await expect(templates.removeMany({ body: { array: [id] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'BUILT_IN', ids: [id] },
    });
  });

  it('all become tasks when their slots are filled', async () => {
    const capture = await upload('pcap', smallCapture());
    const values: Record<string, number | string> = {
      psk: 'only the two know',
      clientNetwork: await createNetwork('Ten thousand', '127.1.0.0/18'),
      subscriberNetwork: await createNetwork('Subscribers', '127.2.0.0/18'),
      userNetwork: await createNetwork('Users', '127.4.0.0/18'),
      gatewayNetwork: await createNetwork('Gateways', '127.5.0.0/24'),
      serverNetwork: await createNetwork('Servers', '127.3.0.0/24'),
      interface: 1,
      interface2: 1,
      tunnel: (await administrator.client.tunnels.create({ body: { name: 'Site to site', type: 'ipsec' } as never }))
        .data,
      sample: (await administrator.client.malware.all()).data[0]?.id ?? 0,
      campaign: 1,
      signature: await createSignature(),
      certificate: await createCertificate(),
      capture,
      recording: await upload('har', JSON.stringify({ log: { version: '1.2', creator: {}, pages: [], entries: [] } })),
      application: (await administrator.client.applications.create({ body: { name: 'Shop', pcapFileId: capture } }))
        .data,
    };
    const profiles: Record<string, number> = {
      'protocol.bgp': await createProfile('protocol.bgp', { session: { peerAddress: '10.0.0.1', peerAs: 65001 } }),
      'protocol.evpn': await createProfile('protocol.evpn', {}),
      'protocol.ospf': await createProfile('protocol.ospf', {}),
      'protocol.pppoe': await createProfile('protocol.pppoe', {}),
      'protocol.l2tp': await createProfile('protocol.l2tp', { tunnel: { localAddress: '192.0.2.7' } }),
      'protocol.ppp': await createProfile('protocol.ppp', {}),
      'protocol.sessions': await createProfile('protocol.sessions', {}),
      'protocol.dhcp': await createProfile('protocol.dhcp', {}),
      'protocol.ipoe': await createProfile('protocol.ipoe', {}),
      'protocol.igmp': await createProfile('protocol.igmp', {}),
      'protocol.dot1x': await createProfile('protocol.dot1x', { supplicant: { method: 'md5' } }),
      'protocol.lag': await createProfile('protocol.lag', {}),
    };
    const builtIn = (await templates.all()).data.filter((template) => template.builtIn);
    for (const { id, name, parameters, slots } of builtIn) {
      const given = Object.fromEntries(
        parameters.flatMap((parameter) => {
          const value = profiles[parameter.category ?? ''] ?? values[parameter.name];
          return value === undefined ? [] : [[parameter.name, value]];
        }),
      );
      const { data: taskId } = await tasks.fromTemplate({
        body: {
          templateID: id,
          agentMap: Object.fromEntries(slots.map((slot) => [slot.name, slot.role === 'client' ? client : server])),
          parameters: given,
        },
      });
      const { data: made } = await tasks.get({ params: { id: taskId } });
      expect(made).toMatchObject({ comment: name, status: 0 });
      expect(JSON.stringify(made.configuration)).not.toMatch(/\$slot|\$param/);
      const { data: thresholds } = await tasks.thresholds({ params: { id: taskId } });
      const presets = allBuiltin.find((builtin) => builtin.name === name)?.task['thresholds'] ?? [];
      expect(thresholds).toMatchObject(presets);
    }
  });
});
