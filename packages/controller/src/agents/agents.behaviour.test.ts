import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrolTestAgent, type TestAgent, testFacts } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';
import { endRun, insertActiveRun } from './testing/active-run.ts';

let controller: TestController;
let administrator: SignedIn;
let north: TestAgent;
let south: TestAgent;
let east: TestAgent;
const engine = (name: string, available: boolean) => ({
  ...{ engine: name, available, way: '', version: '1.2', missing: available ? [] : ['CAP_NET_RAW'], reason: '' },
});
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  const add = (name: string, tags: string, more: object = {}) =>
    enrolTestAgent(administrator.client, { url: controller.url, name, tags, facts: testFacts(more) });
  north = await add('north', 'lab,10g', { engines: [engine('http', true), engine('udp', false)], cpuCores: 8 });
  south = await add('south', 'lab', { engines: [engine('udp', true)], hostname: 'Köln-2' });
  east = await add('east', '10gx');
});
afterAll(() => controller.close());

const api = () => administrator.client.agents;
const namesOf = async (query: NonNullable<Parameters<ReturnType<typeof api>['list']>[0]>['query']) =>
  (await api().list({ query: { key: 'name', order: 'asc', ...query } })).data.map(({ name }) => name);

describe('the list of agents', () => {
  it('is sorted, searched and filtered by the database', async () => {
    expect(await namesOf({})).toEqual(['east', 'north', 'south']);
    expect(await namesOf({ search: 'köLN' })).toEqual(['south']);
    expect(await namesOf({ tag: ['lab'] })).toEqual(['north', 'south']);
    expect(await namesOf({ tag: ['lab', '10g'] })).toEqual(['north']);
    expect(await namesOf({ plugin: 1 })).toEqual(['east', 'north']);
    expect(await namesOf({ plugin: 3 })).toEqual(['east', 'south']);
    expect(await namesOf({ plugin: 9999 })).toEqual([]);
    expect(await namesOf({ status: '1,2' })).toEqual(['east', 'north', 'south']);
    expect(await namesOf({ status: '4' })).toEqual([]);
    expect(await namesOf({ key: 'cpuCores', order: 'desc', count: 1 })).toEqual(['north']);
  });

  it('knows who is free: online, without work, reserved by nobody', async () => {
    const { runID, taskID } = await insertActiveRun(controller.store, [north.agentId]);
    controller.bus.publish('run.changed', { runId: runID });
    await api().reserve({ body: { array: [south.agentId] } });
    await expect.poll(() => namesOf({ free: true })).toEqual(['east']);
    expect(await namesOf({ free: false })).toEqual(['north', 'south']);
    const { data } = await api().list({ query: {} });
    expect(data.find(({ name }) => name === 'north')).toMatchObject({ activeTaskIDs: [taskID], status: 2 });
    await endRun(controller.store, runID);
    await api().release({ body: { array: [south.agentId] } });
    await expect.poll(() => namesOf({ free: true })).toEqual(['east', 'north', 'south']);
  });

  it('has no interfaces and no secrets; the light list has five members', async () => {
    const { data } = await api().list({ query: {} });
    expect(Object.keys(data[0] ?? {})).not.toContain('interfaces');
    expect(JSON.stringify(data)).not.toContain('publicKey');
    const all = await api().all();
    expect(all.cursor).toMatchObject({ currentPage: 1, totalPages: 1, totalRows: 3 });
    expect(all.data.find(({ name }) => name === 'north')).toEqual({
      ...{ id: north.agentId, name: 'north', status: 1, tags: 'lab,10g', cpuCores: 8 },
    });
  });
});

describe('an agent', () => {
  it('takes a new name, comment, tags and limits', async () => {
    const id = east.agentId;
    const { data } = await api().get({ params: { id } });
    await api().update({ body: { ...data, comment: 'Rack 4', tags: 'x', maxConcurrentTasks: 2, maxBps: 1e9 } });
    expect((await api().get({ params: { id } })).data).toMatchObject({
      ...{ comment: 'Rack 4', tags: 'x', maxConcurrentTasks: 2, maxBps: 1e9, name: 'east' },
    });
    await expect(api().update({ body: { id, updatedAt: data.updatedAt, comment: '' } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
    await expect(api().update({ body: { id, name: 'north' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/name', code: 'DUPLICATE' }] },
    });
    await expect(api().update({ body: { id: 9999, name: 'x' } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await api().update({ body: { id, comment: null, maxBps: null } });
    expect((await api().get({ params: { id } })).data).toMatchObject({ comment: '', maxBps: 0 });
  });

  it('has interfaces, and looks again when asked', async () => {
    const { agentId: id } = north;
    const before = await api().interfaces({ params: { id }, query: {} });
    expect(before.data.map(({ name }) => name)).toEqual(['lo']);
    const [lo] = testFacts().interfaces;
    const facts = testFacts({ interfaces: [lo, { ...lo, id: 2, name: 'eth0' }] as never });
    north.onQuestion(({ kind }) => (kind === 'rescan' ? facts : undefined));
    const after = await api().interfaces({ params: { id }, query: { rescan: true } });
    expect(after.data.map(({ name }) => name)).toEqual(['lo', 'eth0']);
    north.onQuestion(() => ({ nonsense: true }));
    await expect(api().interfaces({ params: { id }, query: { rescan: true } })).rejects.toEqual(
      refused(409, 'AGENT_OFFLINE'),
    );
  });

  it('tells facts again by itself', async () => {
    south.send({ type: 'facts', facts: testFacts({ hostname: 'renamed', engines: [engine('udp', true)] }) });
    const hostname = async () => (await api().get({ params: { id: south.agentId } })).data.hostname;
    await expect.poll(hostname).toBe('renamed');
  });

  it('has capabilities with reasons for what it lacks', async () => {
    const { data } = await api().capabilities({ params: { id: south.agentId } });
    const byName = new Map(data.plugins.map((plugin) => [plugin.name, plugin]));
    expect(byName.get('udp')).toMatchObject({
      id: 3,
      available: true,
      engine: 'udp',
      engineVersion: '1.2',
      reason: '',
    });
    expect(byName.get('http')).toMatchObject({ available: false, reason: 'the agent has no engine for it' });
    expect(data.planes.find(({ plane, name }) => plane === 'control' && name === 'bgp')).toMatchObject({
      available: false,
    });
    expect(data.system).toEqual({ caps: [], hugepages: 0, dpdk: false, rdmaDevices: [] });
  });

  it('that does not exist is 404 everywhere', async () => {
    const params = { id: 9999 };
    const missing = refused(404, 'NOT_FOUND');
    await expect(api().get({ params })).rejects.toEqual(missing);
    await expect(api().interfaces({ params, query: {} })).rejects.toEqual(missing);
    await expect(api().capabilities({ params })).rejects.toEqual(missing);
    await expect(api().metrics({ params, query: {} })).rejects.toEqual(missing);
    await expect(api().logs({ params, query: {} })).rejects.toEqual(missing);
  });

  it('counts in the health of the controller', async () => {
    const { data } = await administrator.client.meta.health({ query: { deep: true } });
    expect(data.agentsOnline).toBe(3);
  });
});
