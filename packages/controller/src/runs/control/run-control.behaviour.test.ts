import { defaultSettings, permissions } from '@rushhour/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiError } from '../../errors.ts';
import { agents } from '../../store/agents/agents.ts';
import { verifyAudit } from '../../store/engine/audit.ts';
import { markTask } from '../../store/tasks/tasks.ts';
import { createRunLab, eventually, type RunLab } from '../testing/run-lab.ts';
import type { Script } from '../testing/scripted-agent.ts';

let world: RunLab;
beforeAll(async () => {
  world = await createRunLab();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const pair = async (client: Script = {}, server: Script = {}, pluginId = 1) => {
  const ids = { client: await world.addAgent(client), server: await world.addAgent(server) };
  return { ...ids, taskId: await world.addTask({ sources: [ids.client], targets: [ids.server], pluginId }) };
};
const endless: Script = { endsAfterSec: 1_000_000 };
const heardBy = (id: number) => world.net.agentOf(id).heard.map(({ type }) => type);
const refusal = (code: string, data: object = {}) =>
  expect.objectContaining({ code, data: expect.objectContaining(data) });
const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as ApiError,
  );

describe('starting', () => {
  it('twice at once creates one run; the other request gets its id', async () => {
    const client = await world.addAgent(endless, { maxConcurrentTasks: 1 });
    const agentsOf = { sources: [client], targets: [await world.addAgent()] };
    await world.reach(await world.start(await world.addTask(agentsOf)), 4);
    // Its client is busy, so it stays queued however long the other requests take.
    const taskId = await world.addTask(agentsOf);
    const outcomes = await Promise.allSettled([world.start(taskId), world.start(taskId), world.start(taskId)]);
    const [started] = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toHaveLength(2);
    for (const error of refused) expect(error).toEqual(refusal('ILLEGAL_TRANSITION', { runId: started, from: 1 }));
  });

  it('again while the task runs is refused with the state and what may follow', async () => {
    const { taskId } = await pair(endless);
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    expect(await caught(world.start(taskId))).toEqual(
      refusal('ILLEGAL_TRANSITION', { runId, from: 4, allowed: [5, 6] }),
    );
  });

  it('is refused with every problem of the definition, and no agent is disturbed', async () => {
    const { client, taskId } = await pair();
    world.planner.issues = [
      { severity: 'error', code: 'PORT_TAKEN', path: '/configuration/0', message: 'port 80 is taken' },
      { severity: 'warning', code: 'SLOW', path: '', message: 'slow' },
      { severity: 'error', code: 'AGENT_BLOCKED', path: '/configuration/0/values/sources/0', message: 'blocked' },
    ];
    const issues = [{ code: 'PORT_TAKEN' }, { code: 'AGENT_BLOCKED' }].map((issue) => expect.objectContaining(issue));
    expect(await caught(world.start(taskId))).toEqual(refusal('INVALID_DEFINITION', { issues }));
    expect(heardBy(client)).toEqual([]);
    expect((await world.task(taskId)).status).toBe(0);
  });

  it('needs a permission for hazardous tasks, and a reason when the settings say so', async () => {
    const { taskId } = await pair({}, {}, 18);
    const held = [permissions['tasks.execute']];
    const error = await caught(world.start(taskId, {}, held));
    expect(error).toEqual(refusal('FORBIDDEN', { permission: 'tasks.executeHazardous' }));
    world.settings.tasks.hazardRequiresReason = true;
    const entitled = [...held, permissions['tasks.executeHazardous']];
    expect(await caught(world.start(taskId, {}, entitled))).toMatchObject({ kind: 'invalid' });
    await world.end(await world.start(taskId, { reason: 'release test' }, entitled));
  });

  it('of attack content needs the permission for that content as well', async () => {
    const { taskId } = await pair({}, {}, 17);
    const held = [permissions['tasks.execute'], permissions['tasks.executeHazardous']];
    expect(await caught(world.start(taskId, {}, held))).toEqual(
      refusal('FORBIDDEN', { permission: 'malware.execute' }),
    );
  });

  it('is refused while the disk is too full', async () => {
    const { taskId } = await pair();
    world.fillDisk(95);
    expect(await caught(world.start(taskId))).toEqual(refusal('DISK_FULL', { usedPct: 95 }));
  });

  it('is refused while another user has reserved an agent', async () => {
    const { client, taskId } = await pair();
    const reservedUntil = new Date(Date.now() + 60_000).toISOString();
    await world.changeAgent(client, { reservedBy: 77, reservedUntil });
    expect(await caught(world.start(taskId))).toEqual(refusal('AGENT_RESERVED', { agentID: client }));
    await world.changeAgent(client, { reservedUntil: new Date(Date.now() - 1000).toISOString() });
    await world.end(await world.start(taskId));
  });

  it('of a deleted task is refused, of an unknown one not found', async () => {
    const { taskId } = await pair();
    await world.change((tx) => markTask(tx, taskId, tx.now));
    expect(await caught(world.start(taskId))).toEqual(refusal('TASK_DELETED'));
    expect(await caught(world.start(424_242))).toMatchObject({ kind: 'notFound' });
  });
});

describe('stopping', () => {
  it('takes a run out of the queue', async () => {
    const { client, taskId } = await pair();
    world.net.disconnect(client);
    const runId = await world.start(taskId);
    expect(await world.stop(taskId)).toEqual({ runId, status: 8 });
    expect(await world.run(runId)).toMatchObject({ status: 8, stopReason: 'user' });
    expect(await world.statuses(runId)).toEqual([1, 8]);
  });

  it('ends a run that is being prepared', async () => {
    const { client, taskId } = await pair({ prepare: 'never' });
    const runId = await world.start(taskId);
    await world.reach(runId, 2);
    expect(await world.stop(taskId)).toEqual({ runId, status: 6 });
    expect(await world.end(runId)).toMatchObject({ status: 8, stopReason: 'user', startedAt: null, verdict: 0 });
    expect(heardBy(client)).not.toContain('start');
  });

  it('ends a run that is armed', async () => {
    await world.retime({ leadMs: 3000 });
    const { taskId } = await pair();
    const runId = await world.start(taskId);
    await world.reach(runId, 3);
    await world.stop(taskId, 'abort');
    expect(await world.end(runId)).toMatchObject({ status: 8, stopReason: 'user', startedAt: null, verdict: 0 });
  });

  it('ends a run under way: clients first, then servers', async () => {
    const { client, server, taskId } = await pair(endless);
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await world.stop(taskId);
    expect(await world.end(runId)).toMatchObject({ status: 8, stopReason: 'user', validity: { valid: true } });
    const stops = (id: number) => world.net.agentOf(id).heard.filter(({ type }) => type === 'stop');
    expect(stops(client)[0]).toMatchObject({ mode: 'graceful', orders: [0] });
    expect(stops(server)).toMatchObject([{ mode: 'graceful' }]);
    expect(stops(server)[0]).not.toHaveProperty('orders');
  });

  it('ends a paused run', async () => {
    const { taskId } = await pair(endless);
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await world.change((tx) => world.runs.pause(tx, taskId));
    await world.stop(taskId);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 8, stopReason: 'user', pausedAt: null });
    expect(run.pausedMs).toBeGreaterThan(0);
  });

  it('a second time changes nothing, but may be more urgent', async () => {
    const { server, taskId } = await pair(endless, { neverEnds: true });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    const first = await world.stop(taskId);
    expect(await world.stop(taskId)).toEqual(first);
    await world.stop(taskId, 'abort');
    await eventually(async () => {
      const stops = world.net.agentOf(server).heard.filter(({ type }) => type === 'stop');
      expect(stops.at(-1)).toMatchObject({ mode: 'abort' });
    });
    expect(await world.statuses(runId)).toEqual([1, 2, 3, 4, 6]);
    expect(await world.run(runId)).toMatchObject({ stopReason: 'user', stopMode: 'abort' });
  });

  it('what is not active is refused', async () => {
    const { taskId } = await pair();
    expect(await caught(world.stop(taskId))).toEqual(refusal('ILLEGAL_TRANSITION', { from: 0, allowed: [1] }));
    await world.end(await world.start(taskId));
    expect(await caught(world.stop(taskId))).toEqual(refusal('ILLEGAL_TRANSITION', { from: 7, allowed: [0, 1] }));
  });
});

describe('a pause', () => {
  it('stops the traffic and moves the planned end', async () => {
    const { client, taskId } = await pair(endless);
    const runId = await world.start(taskId);
    const before = await world.reach(runId, 4);
    expect(await world.change((tx) => world.runs.pause(tx, taskId))).toEqual({ runId, status: 5 });
    await eventually(async () => {
      expect((await world.agentsOf(runId)).map(({ state }) => state)).toEqual(['paused', 'paused']);
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await world.change((tx) => world.runs.resume(tx, taskId));
    await eventually(async () => {
      expect((await world.agentsOf(runId)).map(({ state }) => state)).toEqual(['running', 'running']);
    });
    const after = await world.run(runId);
    expect(after.pausedMs).toBeGreaterThanOrEqual(200);
    const moved = Date.parse(after.deadlineAt ?? '') - Date.parse(before.deadlineAt ?? '');
    expect(moved).toBe(after.pausedMs);
    expect(heardBy(client).slice(2)).toEqual(['pause', 'resume']);
    expect(await world.statuses(runId)).toEqual([1, 2, 3, 4, 5, 4]);
  });

  it('is refused when a plugin cannot pause, and in the wrong state', async () => {
    const { taskId } = await pair(endless, {}, 2);
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    const pause = () => caught(world.change((tx) => world.runs.pause(tx, taskId)));
    expect(await pause()).toEqual(refusal('CANNOT_PAUSE', { plugins: [{ id: 2, name: 'tcp' }] }));
    const resume = await caught(world.change((tx) => world.runs.resume(tx, taskId)));
    expect(resume).toEqual(refusal('ILLEGAL_TRANSITION', { from: 4 }));
  });
});

describe('a change of load', () => {
  it('is divided over the clients of the entry and sent to them', async () => {
    const [one, two] = [await world.addAgent(endless), await world.addAgent(endless)];
    const taskId = await world.addTask({ sources: [one, two] });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    const changes = [
      { index: 0, requestsPerSecond: 300 },
      { index: 0, packetsPerSecond: 5 },
      { index: 4, requestsPerSecond: 1 },
      { index: 0, initialTps: 3 },
    ];
    const { applied, rejected } = await world.change((tx) => world.runs.changeLoad(tx, taskId, changes));
    expect(applied).toEqual([0]);
    expect(rejected.map(({ index }) => index)).toEqual([0, 4, 0]);
    await eventually(async () => {
      for (const id of [one, two]) {
        const jobs = world.net.agentOf(id).heard.filter(({ type }) => type === 'changeLoad');
        expect(jobs).toMatchObject([{ order: 0, change: { requestsPerSecond: 150 } }]);
      }
    });
    expect(await world.events(runId, 'loadChanged')).toMatchObject([{ data: { changes: [changes[0]] } }]);
  });

  it('back to what it was before is sent as well', async () => {
    const client = await world.addAgent(endless);
    const taskId = await world.addTask({ sources: [client] });
    await world.reach(await world.start(taskId), 4);
    const heard = () =>
      world.net.agentOf(client).heard.flatMap((command) => (command.type === 'changeLoad' ? [command.change] : []));
    for (const [index, requestsPerSecond] of [10, 20, 10].entries()) {
      await world.change((tx) => world.runs.changeLoad(tx, taskId, [{ index: 0, requestsPerSecond }]));
      await eventually(async () => expect(heard()).toHaveLength(index + 1));
    }
    expect(heard()).toEqual([10, 20, 10].map((requestsPerSecond) => ({ requestsPerSecond })));
  });

  it('is refused when nothing runs', async () => {
    const { taskId } = await pair();
    const change = world.change((tx) => world.runs.changeLoad(tx, taskId, []));
    expect(await caught(change)).toEqual(refusal('ILLEGAL_TRANSITION'));
  });
});

describe('a change of the capture', () => {
  it('is sent to all agents each time it is another, and written down', async () => {
    const [one, two] = [await world.addAgent(endless), await world.addAgent(endless)];
    const taskId = await world.addTask({ sources: [one, two] });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    const heard = (id: number) =>
      world.net.agentOf(id).heard.flatMap((command) => (command.type === 'capture' ? [command.capture] : []));
    const settings = [{ enabled: true, savelen: 96 }, { enabled: true }, { enabled: false }, { enabled: true }];
    for (const setting of settings) {
      await world.change((tx) => world.runs.changeCapture(tx, taskId, setting));
      await eventually(async () =>
        expect(heard(two).length).toBe((await world.events(runId, 'captureChanged')).length),
      );
    }
    const maxBytes = defaultSettings.dumps.maxBytesPerRun / 2;
    const captured = { savelen: 96, captureArp: false, keep: 'first', maxBytes };
    for (const id of [one, two]) expect(heard(id)).toEqual([captured, null, captured]);
  });

  it('is refused when nothing runs', async () => {
    const { taskId } = await pair();
    const change = world.change((tx) => world.runs.changeCapture(tx, taskId, { enabled: true }));
    expect(await caught(change)).toEqual(refusal('ILLEGAL_TRANSITION'));
  });
});

it('starts, stops and ends are in the audit chain, which is whole', async () => {
  const { client, taskId } = await pair();
  const runId = await world.start(taskId);
  await world.end(runId);
  const sql = `SELECT operation FROM audit WHERE operation LIKE 'runs.%' AND targets LIKE '%"runs":[${runId}]%'`;
  const rows = await world.store.read.run({ name: '', sql }, []);
  expect(rows.map(({ operation }) => operation)).toEqual(['runs.end']);
  expect(await verifyAudit(world.store.read, world.store.secrets)).not.toHaveProperty('broken');
  expect(await agents.find(world.store.read, client)).toMatchObject({ needsReset: false });
});
