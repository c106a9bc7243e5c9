import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';
import { storeAgent } from './testing/stored-agent.ts';

let controller: TestController;
let administrator: SignedIn;
let agentId: number;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  // No agent is connected, so started tasks wait in the queue.
  agentId = await storeAgent(controller.store);
});
afterAll(() => controller.close());

const newTask = async (pluginId = 1, values: object = { requestsPerSecond: 10 }) => {
  const ends = { sources: [{ agent: { id: agentId } }], targets: [{ agent: { id: agentId } }] };
  const configuration = [{ plugin: { id: pluginId }, values: { ...ends, ...values } }];
  return (await administrator.client.tasks.create({ body: { configuration } })).data;
};
const tasks = () => administrator.client.tasks;
const statusOf = async (id: number) => (await tasks().status({ params: { id }, query: {} })).data;

describe('POST /tasks/{id}/start', () => {
  it('answers the run, its state and its place in the queue', async () => {
    const [first, second] = [await newTask(), await newTask()];
    const { data } = await tasks().start({ params: { id: first }, body: { comment: 'nightly' } });
    expect(data).toMatchObject({ status: 1, runId: expect.any(Number), queuePosition: 1 });
    const next = await tasks().start({ params: { id: second } });
    expect(next.data.queuePosition).toBe(2);
    expect(await statusOf(second)).toMatchObject({ status: 1, queuePosition: 2, runId: next.data.runId });
    for (const id of [first, second]) await tasks().stop({ params: { id } });
  });

  it('is refused while the task is active, with the run that is', async () => {
    const id = await newTask();
    const { data } = await tasks().start({ params: { id } });
    await expect(tasks().start({ params: { id } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'ILLEGAL_TRANSITION', runId: data.runId, from: 1, allowed: [2, 8, 9] },
    });
    await tasks().stop({ params: { id } });
  });

  it('under the same key starts once, even when both come together', async () => {
    const id = await newTask();
    const start = () =>
      administrator.send(`${controller.url}/v1/tasks/${id}/start`, {
        method: 'POST',
        headers: { 'idempotency-key': `start-${id}`, 'content-type': 'application/json' },
        body: '{"comment":"once"}',
      });
    const answers = await Promise.all([start(), start()]);
    const [one, two] = await Promise.all(answers.map((answer) => answer.json()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(two).toEqual(one);
    expect((await tasks().runs({ params: { id }, query: {} })).data).toHaveLength(1);
    await tasks().stop({ params: { id } });
  });

  it('tells everything that is wrong with the thresholds', async () => {
    const id = await newTask();
    const wrong = { name: 'x', metric: 'udp.loss', aggregation: 'max', operator: '<', value: 1 } as const;
    await expect(tasks().start({ params: { id }, body: { thresholds: [wrong] } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/thresholds/0/metric', code: 'METRIC_UNKNOWN' }] },
    });
    expect(await statusOf(id)).toMatchObject({ status: 0 });
  });

  it('is refused when an agent was blocked since', async () => {
    const id = await newTask();
    await administrator.client.agents.block({ body: { array: [agentId] } });
    await expect(tasks().start({ params: { id } })).rejects.toEqual(refused(400, 'INVALID_DEFINITION'));
    await administrator.client.agents.unblock({ body: { array: [agentId] } });
  });

  it('of an unknown task is 404, of a deleted one 409', async () => {
    await expect(tasks().start({ params: { id: 999_999 } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    const id = await newTask();
    await tasks().removeMany({ body: { array: [id] } });
    await expect(tasks().start({ params: { id } })).rejects.toEqual(refused(409, 'TASK_DELETED'));
  });

  it('of a hazardous task needs a permission, and the refusal is written down', async () => {
    const id = await newTask(7, { packetsPerSecond: 1000, frameSize: 128 });
    const operator = await controller.signInWith(administrator, [
      permissions['tasks.execute'],
      permissions['tasks.read'],
    ]);
    await expect(operator.client.tasks.start({ params: { id } })).rejects.toMatchObject({
      status: 403,
      data: { code: 'FORBIDDEN', permission: 'tasks.executeHazardous' },
    });
    const sql = `SELECT outcome FROM audit WHERE operation = 'tasks.start' AND outcome = 'denied'`;
    expect(await controller.store.read.run({ name: '', sql }, [])).toHaveLength(1);
  });
});

describe('what follows a start', () => {
  it('stop takes a waiting task out of the queue; a second stop finds nothing active', async () => {
    const id = await newTask();
    const { data } = await tasks().start({ params: { id } });
    const stopped = await tasks().stop({ params: { id }, body: { mode: 'abort', reason: 'mistake' } });
    expect(stopped.data).toEqual({ runId: data.runId, status: 8 });
    await expect(tasks().stop({ params: { id } })).rejects.toEqual(refused(409, 'ILLEGAL_TRANSITION'));
  });

  it('pause, resume and a change of load need a running task', async () => {
    const id = await newTask();
    const illegal = refused(409, 'ILLEGAL_TRANSITION');
    await expect(tasks().pause({ params: { id } })).rejects.toEqual(illegal);
    await tasks().start({ params: { id } });
    await expect(tasks().pause({ params: { id } })).rejects.toEqual(illegal);
    await expect(tasks().resume({ params: { id } })).rejects.toEqual(illegal);
    const changes = [{ index: 0, requestsPerSecond: 5 }];
    await expect(tasks().changeLoad({ body: { id, changes } })).rejects.toEqual(illegal);
    await expect(tasks().changeLoad({ body: { id, dumps: { enabled: true } } })).rejects.toEqual(illegal);
    await tasks().stop({ params: { id } });
  });

  it('a change of the capture needs the right to dumps, and the refusal is written down', async () => {
    const id = await newTask();
    const operator = await controller.signInWith(administrator, [
      permissions['tasks.execute'],
      permissions['tasks.read'],
    ]);
    await expect(operator.client.tasks.changeLoad({ body: { id, dumps: { enabled: true } } })).rejects.toMatchObject({
      status: 403,
      data: { code: 'FORBIDDEN', permission: 'tasks.dumps' },
    });
    const sql = `SELECT outcome FROM audit WHERE operation = 'tasks.changeLoad' AND outcome = 'denied'`;
    expect(await controller.store.read.run({ name: '', sql }, [])).toHaveLength(1);
  });

  it('restart ends what is active and starts it anew with what the start had said', async () => {
    const id = await newTask();
    const { data: first } = await tasks().start({ params: { id }, body: { comment: 'again', labels: { build: '9' } } });
    const { data } = await tasks().restart({ params: { id } });
    expect(data).toEqual({ runId: expect.any(Number), previousRunId: first.runId });
    const runs = (await tasks().runs({ params: { id }, query: {} })).data;
    expect(runs.map(({ id: run, status }) => [run, status])).toEqual([
      [data.runId, 1],
      [first.runId, 8],
    ]);
    expect(runs[0]).toMatchObject({ comment: 'again', labels: { build: '9' }, number: 2 });
    await tasks().stop({ params: { id } });
  });

  it('restart of a task that never ran is a start', async () => {
    const id = await newTask();
    const { data } = await tasks().restart({ params: { id } });
    expect(data.previousRunId).toBeNull();
    await tasks().stop({ params: { id } });
  });

  it('actions say of each task what became of it', async () => {
    const [one, two] = [await newTask(), await newTask()];
    await tasks().start({ params: { id: two } });
    const started = await tasks().actions({ body: { array: [one, two, 888_888], action: 'start' } });
    expect(started.data).toMatchObject([
      { id: one, ok: true },
      { id: two, ok: false, code: 'ILLEGAL_TRANSITION' },
      { id: 888_888, ok: false, code: 'NOT_FOUND' },
    ]);
    const stopped = await tasks().actions({ body: { array: [one, two], action: 'stop' } });
    expect(stopped.data.map(({ ok }) => ok)).toEqual([true, true]);
  });
});
