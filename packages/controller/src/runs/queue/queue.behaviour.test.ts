import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../../store/agents/agents.ts';
import { lockRun } from '../../store/runs/runs.ts';
import { createRunLab, eventually, type RunLab } from '../testing/run-lab.ts';
import type { Script } from '../testing/scripted-agent.ts';

let world: RunLab;
beforeAll(async () => {
  world = await createRunLab();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const endless: Script = { endsAfterSec: 1_000_000 };
const settled = () => new Promise((resolve) => setTimeout(resolve, 250));
const statusOf = async (runId: number) => (await world.run(runId)).status;

it('a run that starts at once is planned once', async () => {
  const taskId = await world.addTask({ sources: [await world.addAgent()] });
  const before = world.planner.plans;
  await world.end(await world.start(taskId));
  expect(world.planner.plans).toBe(before + 1);
});

describe('a run waits', () => {
  it('for agents that are not there', async () => {
    const id = await world.addAgent();
    world.net.disconnect(id);
    const runId = await world.start(await world.addTask({ sources: [id] }));
    await settled();
    expect(await statusOf(runId)).toBe(1);
    world.net.connect(id);
    expect(await world.end(runId)).toMatchObject({ status: 7 });
  });

  it('for its time', async () => {
    const id = await world.addAgent();
    const at = new Date(Date.now() + 600).toISOString();
    const runId = await world.start(await world.addTask({ sources: [id] }), { at });
    await settled();
    expect(await statusOf(runId)).toBe(1);
    const run = await world.end(runId);
    expect(Date.parse(run.startedAt ?? '')).toBeGreaterThan(Date.parse(at));
  });

  it('for an agent that takes no more runs at once', async () => {
    const id = await world.addAgent(endless, { maxConcurrentTasks: 1 });
    const [first, second] = [await world.addTask({ sources: [id] }), await world.addTask({ sources: [id] })];
    const one = await world.start(first);
    await world.reach(one, 4);
    const two = await world.start(second);
    await settled();
    expect(await statusOf(two)).toBe(1);
    expect(await world.runs.queuePositionOf(two)).toBe(1);
    await world.stop(first);
    await world.reach(two, 4);
    expect(await world.runs.queuePositionOf(two)).toBeUndefined();
  });

  it('for a place when there are as many as the settings allow, by priority and age', async () => {
    world.settings.tasks.maxConcurrent = 1;
    const id = await world.addAgent(endless);
    const tasks = [await world.addTask({ sources: [id] }), await world.addTask({ sources: [id] })];
    const urgent = await world.addTask({ sources: [id] });
    const [first = 0, second = 0] = tasks;
    const one = await world.start(first);
    await world.reach(one, 4);
    const two = await world.start(second);
    const { runId: three, queuePosition } = await world.startWith(urgent, { priority: 9 });
    expect(queuePosition).toBe(1);
    expect(await world.runs.queuePositionOf(two)).toBe(2);
    await world.stop(first, 'abort');
    await world.reach(three, 4);
    expect(await statusOf(two)).toBe(1);
    await world.stop(urgent, 'abort');
    await world.reach(two, 4);
  });

  it('for the reservation of another user to end', async () => {
    const id = await world.addAgent();
    world.net.disconnect(id);
    const runId = await world.start(await world.addTask({ sources: [id] }));
    await world.changeAgent(id, { reservedBy: 9, reservedUntil: new Date(Date.now() + 60_000).toISOString() });
    world.net.connect(id);
    await settled();
    expect(await statusOf(runId)).toBe(1);
    await world.changeAgent(id, { reservedBy: null, reservedUntil: null });
    expect(await world.end(runId)).toMatchObject({ status: 7 });
  });

  it('for an agent that is reserved just before the run begins', async () => {
    const id = await world.addAgent();
    world.net.disconnect(id);
    const runId = await world.start(await world.addTask({ sources: [id] }));
    await world.change(async (tx) => {
      await lockRun(tx, runId);
      await agents.update(tx, id, { reservedBy: 9, reservedUntil: new Date(Date.now() + 60_000).toISOString() });
      world.net.connect(id);
      // The queue reads the agent's old state and then waits for the run.
      await settled();
    });
    await settled();
    expect(await statusOf(runId)).toBe(1);
    await world.changeAgent(id, { reservedBy: null, reservedUntil: null });
    expect(await world.end(runId)).toMatchObject({ status: 7 });
  });
});

describe('a run that waits in vain', () => {
  it.each([
    ['blocked', { isBlocked: true }],
    ['removed', { deletedAt: new Date().toISOString() }],
  ])('fails when an agent of it was %s', async (what, row) => {
    const id = await world.addAgent();
    world.net.disconnect(id);
    const runId = await world.start(await world.addTask({ sources: [id] }));
    await world.changeAgent(id, row);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'agentLost' });
    expect(run.error).toMatch(new RegExp(what));
  });

  it('is deleted with its task', async () => {
    const id = await world.addAgent();
    world.net.disconnect(id);
    const taskId = await world.addTask({ sources: [id] });
    const runId = await world.start(taskId);
    await world.change((tx) => world.runs.stop(tx, taskId, { reason: 'deleted' }));
    expect(await world.run(runId)).toMatchObject({ status: 8, stopReason: 'deleted' });
  });
});

describe('of several controllers', () => {
  it('one conducts a run, and another takes over when it is gone', async () => {
    if (world.databaseUrl === undefined) return expect(world.runs.isMine(1)).toBe(true);
    const other = world.another();
    await other.recover();
    try {
      const id = await world.addAgent();
      const taskId = await world.addTask({ sources: [id] });
      await world.end(await world.start(taskId));
      expect(world.net.agentOf(id).heard.filter(({ type }) => type === 'prepare')).toHaveLength(1);
      const runId = await world.start(await world.addTask({ sources: [await world.addAgent({ endsAfterSec: 50 })] }));
      await world.reach(runId, 4);
      expect([world.runs.owns(runId), other.owns(runId)]).toEqual([true, false]);
      await world.crash();
      await eventually(async () => expect(other.owns(runId)).toBe(true));
      expect(await world.end(runId)).toMatchObject({ status: 7, epoch: 1 });
    } finally {
      await other.close();
    }
  });
});
