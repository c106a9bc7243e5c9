import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRunLab, eventually, type RunLab, secondMs } from '../testing/run-lab.ts';
import type { Script } from '../testing/scripted-agent.ts';

let world: RunLab;
beforeAll(async () => {
  world = await createRunLab();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const endless: Script = { endsAfterSec: 1_000_000 };
const pair = async (client: Script = {}, server: Script = {}) => {
  const ids = { client: await world.addAgent(client), server: await world.addAgent(server) };
  return { ...ids, taskId: await world.addTask({ sources: [ids.client], targets: [ids.server] }) };
};
const heardBy = (id: number) => world.net.agentOf(id).heard.map(({ type }) => type);
const started = (id: number) => heardBy(id).filter((type) => type === 'start').length;

/** The controller stops and restarts; agents see both. */
const outage = async (agentIds: readonly number[], lengthMs = 100) => {
  await world.crash();
  for (const id of agentIds) world.net.disconnect(id);
  await new Promise((resolve) => setTimeout(resolve, lengthMs));
  await world.revive();
};
const reconnect = (agentIds: readonly number[]) => {
  for (const id of agentIds) world.net.connect(id);
};

describe('after a restart of the controller', () => {
  it('a queued run stays queued', async () => {
    const { client, server, taskId } = await pair();
    world.net.disconnect(client);
    const runId = await world.start(taskId);
    await outage([server]);
    expect(await world.run(runId)).toMatchObject({ status: 1, epoch: 1, attempt: 1 });
    reconnect([client, server]);
    expect(await world.end(runId)).toMatchObject({ status: 7, health: 'ok' });
  });

  it('a run that was being prepared is begun anew with a new epoch, and old work is abandoned', async () => {
    const { client, server, taskId } = await pair({}, { prepare: 'never' });
    const runId = await world.start(taskId);
    await world.reach(runId, 2);
    await outage([client, server]);
    expect(await world.run(runId)).toMatchObject({ status: 1, epoch: 2, attempt: 2 });
    expect(await world.agentsOf(runId)).toEqual([]);
    world.net.agentOf(server).script = {};
    reconnect([client, server]);
    expect(await world.end(runId)).toMatchObject({ status: 7, epoch: 2 });
    expect(await world.statuses(runId)).toEqual([1, 2, 1, 2, 3, 4, 6, 7]);
    const abandoned = world.net.agentOf(server).heard.find(({ type }) => type === 'abandon');
    expect(abandoned).toMatchObject({ runId, epoch: 1 });
  });

  it('a run is begun anew only once', async () => {
    const { client, server, taskId } = await pair({}, { prepare: 'never' });
    const runId = await world.start(taskId);
    for (const attempt of [1, 2]) {
      reconnect([client, server]);
      await world.reach(runId, 2);
      expect((await world.run(runId)).attempt).toBe(attempt);
      await outage([client, server]);
    }
    expect(await world.run(runId)).toMatchObject({ status: 9, stopReason: 'controllerRestart' });
  });

  it('an armed run whose start lies ahead is begun anew', async () => {
    await world.retime({ leadMs: 4000 });
    const { client, server, taskId } = await pair();
    const runId = await world.start(taskId);
    await world.reach(runId, 3);
    await outage([client, server]);
    expect(await world.run(runId)).toMatchObject({ status: 1, epoch: 2, t0: null });
  });

  it('an armed run whose start has passed goes on', async () => {
    await world.retime({ leadMs: 400 });
    const { client, server, taskId } = await pair({ endsAfterSec: 30 });
    const runId = await world.start(taskId);
    await world.reach(runId, 3);
    await outage([client, server], 600);
    expect(await world.run(runId)).toMatchObject({ status: 3, epoch: 1, health: 'recovering' });
    reconnect([client, server]);
    expect(await world.end(runId)).toMatchObject({ status: 7, epoch: 1 });
    expect(started(client)).toBeGreaterThanOrEqual(1);
    expect(await world.statuses(runId)).toEqual([1, 2, 3, 4, 6, 7]);
  });

  it('a run under way goes on with the same epoch and without a hole, and nothing is started twice', async () => {
    const { client, server, taskId } = await pair({ endsAfterSec: 30 });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await outage([client, server], 10 * secondMs);
    expect(await world.run(runId)).toMatchObject({ status: 4, health: 'recovering' });
    reconnect([client, server]);
    await eventually(async () => expect((await world.run(runId)).health).toBe('ok'));
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 7, epoch: 1, validity: { valid: true, reasons: [] } });
    expect(started(client)).toBe(1);
    expect(heardBy(client).filter((type) => type === 'prepare')).toHaveLength(1);
  });

  it('a run whose planned end has passed is only collected', async () => {
    const { client, server, taskId } = await pair({ endsAfterSec: 8 });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await outage([client, server], 15 * secondMs);
    reconnect([client, server]);
    expect(await world.end(runId)).toMatchObject({ status: 7, stopReason: 'duration', validity: { valid: true } });
    expect(heardBy(client)).not.toContain('stop');
  });

  it('a paused run stays paused and can be resumed', async () => {
    const { client, server, taskId } = await pair(endless);
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await world.change((tx) => world.runs.pause(tx, taskId));
    await eventually(async () => expect(heardBy(client)).toContain('pause'));
    await outage([client, server]);
    reconnect([client, server]);
    await eventually(async () => expect(await world.run(runId)).toMatchObject({ status: 5, health: 'ok' }));
    await world.change((tx) => world.runs.resume(tx, taskId));
    await eventually(async () => expect(heardBy(client)).toContain('resume'));
    await world.stop(taskId);
    expect(await world.end(runId)).toMatchObject({ status: 8 });
  });

  it('a run that was being stopped is stopped again and collected', async () => {
    const { client, server, taskId } = await pair({ ...endless, neverEnds: true });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await world.stop(taskId);
    await outage([client, server]);
    expect(await world.run(runId)).toMatchObject({ status: 6, health: 'recovering' });
    world.net.agentOf(client).script = {};
    reconnect([client, server]);
    expect(await world.end(runId)).toMatchObject({ status: 8, stopReason: 'user', validity: { valid: true } });
  });

  it('an agent that does not come back is lost to its run', async () => {
    const { client, server, taskId } = await pair(endless);
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await outage([client, server]);
    reconnect([client]);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'agentLost' });
    expect(run.error).toMatch(/did not come back/);
  });

  it('an agent that has ended by itself meanwhile is lost to its run, with its results', async () => {
    const { client, server, taskId } = await pair(endless);
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await world.crash();
    for (const id of [client, server]) {
      world.net.disconnect(id);
      world.net.agentOf(id).endByDeadMan();
    }
    await world.revive();
    reconnect([client, server]);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'agentLost' });
    expect((await world.agentsOf(runId)).every(({ orders }) => orders[0]?.outcome !== null)).toBe(true);
  });
});
