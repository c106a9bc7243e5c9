import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { storeAgent } from '../testing/stored-agent.ts';

let controller: TestController;
let administrator: SignedIn;
let templateID: number;
let agentMap: { client: number; server: number };
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  agentMap = { client: await storeAgent(controller.store), server: await storeAgent(controller.store) };
  const { data } = await administrator.client.taskTemplates.all();
  templateID = data.find(({ name }) => name === 'HTTP requests per second')?.id ?? 0;
});
afterAll(() => controller.close());

type Body = Parameters<SignedIn['client']['tasks']['fromTemplate']>[0]['body'];
const make = (body: Partial<Body> = {}) =>
  administrator.client.tasks.fromTemplate({ body: { templateID, agentMap, ...body } });
const count = async () => (await administrator.client.tasks.list()).cursor.totalRows;

describe('a task from a template', () => {
  it('is a task like any other, with what was filled in', async () => {
    const { data: projectID } = await administrator.client.projects.create({ body: { name: 'Lab' } });
    const { data: id } = await make({ comment: 'Tuesday', projectID, parameters: { rps: 50, seconds: 5 } });
    const { data: task } = await administrator.client.tasks.get({ params: { id } });
    expect(task).toMatchObject({
      comment: 'Tuesday',
      projectID,
      status: 0,
      configuration: [
        {
          plugin: { id: 1 },
          values: {
            sources: [{ agent: { id: agentMap.client } }],
            targets: [{ agent: { id: agentMap.server } }],
            requestsPerSecond: 50,
            duration: { seconds: 5, warmUpSec: 2 },
            httpParams: { path: '/', connections: 50 },
          },
        },
      ],
    });
  });

  it('is made once for one idempotency key', async () => {
    const headers = { 'idempotency-key': 'template-1' };
    const body = { templateID, agentMap };
    const first = await administrator.client.tasks.fromTemplate({ body }, { headers });
    const before = await count();
    expect(await administrator.client.tasks.fromTemplate({ body }, { headers })).toEqual(first);
    expect(await count()).toBe(before);
  });

  it('needs every slot filled, and says all that is wrong at once', async () => {
    const before = await count();
    await expect(
      make({ agentMap: { third: 1 }, parameters: { rps: 0, seconds: 'long', colour: 'red' } }),
    ).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/agentMap/third', code: 'UNKNOWN_SLOT' },
          { path: '/agentMap/client', code: 'SLOT_UNFILLED' },
          { path: '/agentMap/server', code: 'SLOT_UNFILLED' },
          { path: '/parameters/colour', code: 'UNKNOWN_PARAMETER' },
          { path: '/parameters/rps', code: 'MINIMUM' },
          { path: '/parameters/seconds', code: 'TYPE' },
        ],
      },
    });
    expect(await count()).toBe(before);
  });

  it('tells what the plugin has against a value at the parameter it came from', async () => {
    await expect(make({ parameters: { path: 'no slash', seconds: 2 } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/parameters/path', code: 'PATTERN' }] },
    });
    await expect(make({ parameters: { seconds: 2 } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/parameters/seconds', code: 'DURATION_TOO_SHORT' }] },
    });
    await expect(make({ agentMap: { ...agentMap, server: 999_999 } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/agentMap/server', code: 'AGENT_UNKNOWN' }] },
    });
  });

  it('needs a template and a project that are there', async () => {
    await expect(make({ templateID: 999_999 })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(make({ projectID: 999_999 })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });
});
