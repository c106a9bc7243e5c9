import type { ConfigurationEntry, TaskDraft } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTask } from '../../store/tasks/tasks.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { storeAgent } from '../testing/stored-agent.ts';
import { storeRun } from '../testing/stored-run.ts';

let controller: TestController;
let administrator: SignedIn;
let client: number;
let server: number;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  client = await storeAgent(controller.store);
  server = await storeAgent(controller.store);
});
afterAll(() => controller.close());

const tasks = () => administrator.client.tasks;
const http = (values: object = {}): ConfigurationEntry => ({
  plugin: { id: 1 },
  values: {
    sources: [{ agent: { id: client } }],
    targets: [{ agent: { id: server } }],
    requestsPerSecond: 100,
    ...values,
  },
});
const create = async (draft: Partial<TaskDraft> = {}) =>
  (await tasks().create({ body: { comment: 'Load', configuration: [http()], ...draft } })).data;
const get = async (id: number) => (await tasks().get({ params: { id } })).data;
const createProject = async (name: string) => (await administrator.client.projects.create({ body: { name } })).data;

describe('tasks', () => {
  it('are created with nothing but a configuration, and read back whole', async () => {
    const { data: id } = await tasks().create({ body: { configuration: [http()] } });
    expect(await get(id)).toEqual({
      ...{ id, comment: '', status: 0, error: '', projectID: null, project: null, issuerID: 1 },
      issuer: { id: 1, email: 'admin@example.test', realName: 'Administrator' },
      ...{ accessPlane: [], controlPlane: [], configuration: [http()] },
      dumps: { enabled: false, captureArp: false, savelen: 0 },
      ...{ device: null, lastRunId: null, verdict: 0, scheduleEnabled: false },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
      ...{ startedAt: null, finishedAt: null, deletedAt: null },
    });
  });

  it('keep of agents, networks and plugins only the id', async () => {
    const { data: network } = await administrator.client.networks.create({
      body: { name: 'Clients', ipVersion: '4', subnet: '10.9.0.0/24', type: 1 },
    });
    const id = await create({
      configuration: [
        {
          ...http({ sources: [{ agent: { id: client, name: 'x', tags: 'y' }, network: { id: network, name: 'z' } }] }),
          plugin: { id: 1, name: 'http' } as never,
        },
      ],
      accessPlane: [{ agent: { id: client, name: 'x' } as { id: number } }],
    });
    const { configuration, accessPlane } = await get(id);
    expect(configuration).toEqual([http({ sources: [{ agent: { id: client }, network: { id: network } }] })]);
    expect(accessPlane).toEqual([{ agent: { id: client } }]);
  });

  it('are refused with every problem at once, each with its place', async () => {
    const wrong = http({ sources: [{ agent: { id: 9999 } }], httpParams: { method: 'get' }, requestsPerSecond: 0 });
    await expect(create({ configuration: [http(), wrong, { plugin: { id: 77 } }] })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/configuration/1/values/httpParams/method', code: 'PATTERN' },
          { path: '/configuration/1/values/requestsPerSecond', code: 'MINIMUM' },
          { path: '/configuration/2/plugin/id', code: 'PLUGIN_UNKNOWN' },
          { path: '/configuration/1/values/sources/0/agent/id', code: 'AGENT_UNKNOWN' },
        ],
      },
    });
  });

  it('can be sent back as they were read', async () => {
    const id = await create();
    const before = await get(id);
    await tasks().update({ body: before });
    const copy = await tasks().create({ body: before });
    expect(await get(copy.data)).toMatchObject({ comment: 'Load', configuration: before.configuration });
  });

  it('refuse a change made from an older version', async () => {
    const id = await create();
    const { updatedAt } = await get(id);
    await tasks().update({ body: { id, updatedAt, comment: 'First' } });
    await expect(tasks().update({ body: { id, updatedAt, comment: 'Second' } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
  });

  it('are changed member by member, and null clears', async () => {
    const projectID = await createProject('Changes');
    const id = await create({ projectID, dumps: { enabled: true }, accessPlane: [{ agent: { id: client } }] });
    expect(await get(id)).toMatchObject({
      project: { ID: projectID, name: 'Changes', archivedAt: null },
      dumps: { enabled: true, captureArp: false, savelen: 0 },
    });
    await tasks().update({ body: { id, comment: null, projectID: null, dumps: null, accessPlane: null } });
    expect(await get(id)).toMatchObject({ comment: '', project: null, dumps: { enabled: false }, accessPlane: [] });
  });

  it('go into projects that are there and in use', async () => {
    await expect(create({ projectID: 9999 })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    const projectID = await createProject('Archive');
    await administrator.client.projects.archive({ body: { array: [projectID] } });
    await expect(create({ projectID })).rejects.toEqual(refused(409, 'PROJECT_ARCHIVED'));
  });
});

describe('secrets of a task', () => {
  const ipsec = (psk: string): ConfigurationEntry => ({
    plugin: { id: 12 },
    values: { sources: [{ agent: { id: client } }], targets: [{ agent: { id: server } }], ipsecPsk: psk },
  });
  const suite = (psk: string): ConfigurationEntry => ({
    plugin: { id: 21 },
    subplugins: { subplugins: [{ ...http(), order: 0 }, ipsec(psk)] },
  });
  const pskOf = async (id: number) => {
    const opened = await openTask(controller.store.read, controller.store.secrets, id);
    const [first, second] = opened?.configuration ?? [];
    return [first?.values?.ipsecPsk, second?.subplugins?.subplugins?.[1]?.values?.ipsecPsk];
  };

  it('are sealed, read back masked, and kept by the mask', async () => {
    const id = await create({ configuration: [ipsec('quiet harbour'), suite('nine lanterns')] });
    const stored = await controller.store.read.run(
      { name: `raw${id}`, sql: `select "configuration", "configurationSecrets" from tasks where id = ${id}` },
      [],
    );
    expect(JSON.stringify(stored)).not.toMatch(/harbour|lanterns/);
    const read = await get(id);
    expect(JSON.stringify(read)).not.toMatch(/harbour|lanterns/);
    expect(read.configuration).toEqual([ipsec('********'), suite('********')]);
    expect(await pskOf(id)).toEqual(['quiet harbour', 'nine lanterns']);

    await tasks().update({ body: { id, configuration: [ipsec('********'), suite('eight lamps')] } });
    expect(await pskOf(id)).toEqual(['quiet harbour', 'eight lamps']);
    await tasks().update({ body: { ...(await get(id)), comment: 'Renamed' } });
    expect(await pskOf(id)).toEqual(['quiet harbour', 'eight lamps']);
  });

  it('are not invented where a mask stands for nothing', async () => {
    const { sources, targets } = ipsec('').values ?? {};
    const keys = { ipsecAuthMethod: 'manual', ipsecSpi: '1', ipsecKey: '********', ipsecCipherKey: '********' };
    const configuration = [ipsec('********'), { plugin: { id: 12 }, values: { sources, targets, ...keys } }];
    await expect(create({ configuration: configuration as ConfigurationEntry[] })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/configuration/0/values/ipsecPsk', code: 'SECRET_UNKNOWN' },
          { path: '/configuration/1/values/ipsecCipherKey', code: 'SECRET_UNKNOWN' },
          { path: '/configuration/1/values/ipsecKey', code: 'SECRET_UNKNOWN' },
        ],
      },
    });
  });

  it('go along with a copy', async () => {
    const id = await create({ configuration: [ipsec('quiet harbour'), suite('nine lanterns')] });
    const { data: copy } = await tasks().clone({ params: { id } });
    expect(await pskOf(copy)).toEqual(['quiet harbour', 'nine lanterns']);
  });
});

describe('a task that is active', () => {
  it('takes a new comment and project, and nothing else', async () => {
    const id = await create();
    await storeRun(controller.store, id, { status: 1 });
    const projectID = await createProject('Running');
    await tasks().update({ body: { ...(await get(id)), comment: 'Still the same', projectID } });
    expect(await get(id)).toMatchObject({ comment: 'Still the same', projectID, status: 1 });
    const faster = [http({ requestsPerSecond: 200 })];
    await expect(tasks().update({ body: { id, configuration: faster } })).rejects.toEqual(refused(409, 'TASK_ACTIVE'));
    await expect(tasks().update({ body: { id, dumps: { enabled: true } } })).rejects.toEqual(
      refused(409, 'TASK_ACTIVE'),
    );
  });

  it('shows its newest run', async () => {
    const id = await create();
    await storeRun(controller.store, id, { number: 1, verdict: 2 });
    const lastRunId = await storeRun(controller.store, id, { number: 2, verdict: 1 });
    expect(await get(id)).toMatchObject({ lastRunId, verdict: 1, status: 7 });
  });

  it('has not run any more once it is another', async () => {
    const id = await create();
    const lastRunId = await storeRun(controller.store, id, { status: 9, error: 'the agent is gone' });
    await tasks().update({ body: { id, comment: 'Renamed' } });
    expect(await get(id)).toMatchObject({ status: 9, error: 'the agent is gone' });
    await tasks().update({ body: { id, configuration: [http({ requestsPerSecond: 200 })] } });
    expect(await get(id)).toMatchObject({ status: 0, error: '', lastRunId });
  });
});

describe('deleted tasks', () => {
  it('are gone until they are restored, each told apart', async () => {
    const [one, other] = [await create(), await create()];
    await storeRun(controller.store, other, { status: 1 });
    expect(await tasks().removeMany({ body: { array: [one, other, 9999] } })).toMatchObject({
      data: [
        { id: one, ok: true },
        { id: other, ok: false, code: 'TASK_ACTIVE' },
        { id: 9999, ok: false, code: 'NOT_FOUND' },
      ],
    });
    await expect(get(one)).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(tasks().update({ body: { id: one, comment: 'x' } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(tasks().clone({ params: { id: one } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    const { data: left } = await tasks().list({ query: { deleted: 'only', count: 100 } });
    expect(left.map(({ id }) => id)).toContain(one);
    expect(left.map(({ id }) => id)).not.toContain(other);
    expect(await tasks().restore({ body: { array: [one, 9999] } })).toMatchObject({
      data: [
        { id: one, ok: true },
        { id: 9999, ok: false },
      ],
    });
    expect(await get(one)).toMatchObject({ deletedAt: null });
  });

  it('hold back none of the records they used, and take them up again', async () => {
    const { data: network } = await administrator.client.networks.create({
      body: { name: 'Held', ipVersion: '4', subnet: '10.8.0.0/24', type: 3 },
    });
    const id = await create({
      comment: 'Holder',
      configuration: [http({ sources: [{ agent: { id: client }, network: { id: network } }] })],
    });
    const usage = async () => (await administrator.client.networks.usage({ params: { id: network }, query: {} })).data;
    expect(await usage()).toEqual([{ kind: 'task', id, name: 'Holder', status: 0 }]);
    await expect(administrator.client.networks.removeMany({ body: { array: [network] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'task', id, name: 'Holder' }] },
    });
    await tasks().removeMany({ body: { array: [id] } });
    expect(await usage()).toEqual([]);
    await tasks().restore({ body: { array: [id] } });
    expect(await usage()).toMatchObject([{ id }]);
    await tasks().removeMany({ body: { array: [id] } });
    await administrator.client.networks.removeMany({ body: { array: [network] } });
  });
});

describe('the list of tasks', () => {
  it('filters by status, project, agent, plugin and comment, and omits what is heavy', async () => {
    const projectID = await createProject('Listed');
    const agent = await storeAgent(controller.store);
    const by = { agent: { id: agent } };
    const first = await create({ projectID, comment: 'Needle one' });
    const second = await create({ projectID, comment: 'needle two', configuration: [http({ sources: [by] })] });
    const suite = {
      plugin: { id: 21 },
      subplugins: { subplugins: [{ plugin: { id: 11 }, values: { sources: [by], targets: [by] } }] },
    };
    const third = await create({ projectID, comment: 'Other', configuration: [suite as ConfigurationEntry] });
    await storeRun(controller.store, first, { status: 9 });
    await storeRun(controller.store, third, { status: 8, verdict: 3 });
    const ids = async (query: object) => {
      const { data } = await tasks().list({ query: { projectID, order: 'asc', ...query } });
      return data.map(({ id }) => id);
    };
    expect(await ids({})).toEqual([first, second, third]);
    expect(await ids({ status: '8,9' })).toEqual([first, third]);
    expect(await ids({ agentID: agent })).toEqual([second, third]);
    expect(await ids({ pluginID: 11 })).toEqual([third]);
    expect(await ids({ pluginID: 21, agentID: agent, status: '8' })).toEqual([third]);
    expect(await ids({ search: 'NEEDLE' })).toEqual([first, second]);
    expect(await ids({ key: 'comment' })).toEqual([first, third, second]);
    const { data: light, cursor } = await tasks().list({ query: { projectID, count: 1, page: 2, order: 'asc' } });
    expect(cursor).toEqual({ count: 1, currentPage: 2, totalPages: 3, totalRows: 3 });
    expect(light).toMatchObject([{ id: second, configuration: [], project: { ID: projectID, name: 'Listed' } }]);
    const { data: full } = await tasks().list({ query: { projectID, full: true, pluginID: 11 } });
    expect(full).toMatchObject([{ id: third, configuration: [{ plugin: { id: 21 } }], verdict: 3 }]);
  });

  it('finds deleted tasks by their agent, too', async () => {
    const agent = await storeAgent(controller.store);
    const id = await create({ configuration: [http({ sources: [{ agent: { id: agent } }] })] });
    await tasks().removeMany({ body: { array: [id] } });
    expect((await tasks().list({ query: { agentID: agent } })).data).toEqual([]);
    expect((await tasks().list({ query: { agentID: agent, deleted: 'all' } })).data).toMatchObject([{ id }]);
  });
});

describe('moving and copying', () => {
  it('moves tasks to a project and out of it', async () => {
    const projectID = await createProject('Target');
    const id = await create();
    expect(await tasks().move({ body: { array: [id, 9999], projectID } })).toMatchObject({
      data: [
        { id, ok: true },
        { id: 9999, ok: false, code: 'NOT_FOUND' },
      ],
    });
    expect(await get(id)).toMatchObject({ projectID });
    expect(await administrator.client.projects.get({ params: { id: projectID } })).toMatchObject({ taskCount: 1 });
    await tasks().move({ body: { array: [id], projectID: null } });
    expect(await get(id)).toMatchObject({ projectID: null });
    await expect(tasks().move({ body: { array: [id], projectID: 9999 } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('copies the definition and the thresholds, not the runs', async () => {
    const id = await create({ comment: 'Original' });
    await storeRun(controller.store, id, { verdict: 1 });
    const threshold = { name: 'fast', metric: 'http.latency', aggregation: 'p99', operator: '<', value: 1000 } as const;
    await tasks().setThresholds({ body: { id, thresholds: [threshold] } });
    const { data: copy } = await tasks().clone({ params: { id }, body: { comment: 'Copy' } });
    expect(await get(copy)).toMatchObject({ comment: 'Copy', status: 0, lastRunId: null, configuration: [http()] });
    expect((await tasks().thresholds({ params: { id: copy } })).data).toMatchObject([threshold]);
  });

  it('says whose fault a bad copy is', async () => {
    const id = await create();
    const overrides = { configuration: [http({ requestsPerSecond: 0 })] };
    await expect(tasks().clone({ params: { id }, body: { overrides } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/overrides/configuration/0/values/requestsPerSecond', code: 'MINIMUM' }] },
    });
  });
});

it('tasks are counted by status and verdict', async () => {
  const projectID = await createProject('Counted');
  const ids = [await create({ projectID }), await create({ projectID }), await create({ projectID })];
  await storeRun(controller.store, ids[0] as number, { status: 1 });
  await storeRun(controller.store, ids[1] as number, { status: 9, verdict: 2 });
  expect((await tasks().counters({ query: { projectID } })).data).toEqual({
    ...{ byStatus: { 0: 1, 1: 1, 9: 1 }, byVerdict: { 0: 2, 2: 1 } },
    ...{ active: 1, error: 1, scheduled: 0 },
  });
  const empty = { byStatus: {}, byVerdict: {}, active: 0, error: 0, scheduled: 0 };
  expect((await tasks().counters({ query: { projectID, to: '2020-01-01T00:00:00.000Z' } })).data).toEqual(empty);
});

describe('thresholds', () => {
  const threshold = { name: 'few errors', metric: 'errors', aggregation: 'sum', operator: '<=', value: 0 } as const;

  it('are kept with the task', async () => {
    const id = await create();
    expect((await tasks().thresholds({ params: { id } })).data).toEqual([]);
    const thresholds = [
      threshold,
      { ...threshold, name: 'all good', metric: 'http.status.200', scope: { pluginID: 1 } },
    ];
    const { data: kept } = await tasks().setThresholds({ body: { id, thresholds } });
    expect(kept).toMatchObject(thresholds);
    expect((await tasks().thresholds({ params: { id } })).data).toEqual(kept);
  });

  it('are about what the task reports', async () => {
    const id = await create();
    const wrong = [
      { ...threshold, metric: 'udp.lost' },
      { ...threshold, name: 'b', metric: 'http.ok', aggregation: 'p99' as const },
      { ...threshold, name: 'c', scope: { pluginID: 2, configurationIndex: 1, agentID: 9999 } },
      { ...threshold, name: 'b', window: { fromSec: 5, toSec: 5 } },
    ];
    await expect(tasks().setThresholds({ body: { id, thresholds: wrong } })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/thresholds/0/metric', code: 'METRIC_UNKNOWN' },
          { path: '/thresholds/1/aggregation', code: 'AGGREGATION_UNFIT' },
          { path: '/thresholds/2/scope/configurationIndex', code: 'SCOPE_UNKNOWN' },
          { path: '/thresholds/2/scope/pluginID', code: 'SCOPE_UNKNOWN' },
          { path: '/thresholds/2/scope/agentID', code: 'SCOPE_UNKNOWN' },
          { path: '/thresholds/3/name', code: 'DUPLICATE' },
          { path: '/thresholds/3/window/toSec', code: 'WINDOW_EMPTY' },
        ],
      },
    });
  });
});
