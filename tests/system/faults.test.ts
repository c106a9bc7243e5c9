import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AgentProcess, httpTask, type System, startSystem, until, untilStatus } from './system.ts';

const settings = {
  agents: { heartbeatSec: 1, suspectAfterSec: 2, lostAfterSec: 5, deadManSec: 60 },
  tasks: { stopTimeoutSec: 10, recoveryGraceSec: 20 },
};

let system: System;
let near: AgentProcess;
let far: AgentProcess;

beforeAll(async () => {
  system = await startSystem(settings);
  near = await system.addAgent('near');
  far = await system.addAgent('far');
});
afterAll(() => system?.close());

/** Starts a run and waits for traffic. */
const runningTask = async (seconds = 8, values: object = {}) => {
  const { data: id } = await system.client.tasks.create({
    body: httpTask(near, far, { duration: { mode: 'time', seconds }, ...values }) as never,
  });
  const { data } = await system.client.tasks.start({ params: { id } });
  await untilStatus(system.client, id, [4]);
  await sleep(1500);
  return { id, runId: data.runId };
};

const resultOf = async ({ id, runId }: { id: number; runId: number }) =>
  (await system.client.tasks.run({ params: { id, runId } })).data;

/** Seconds without a value inside a series of requests. */
const holesOf = async ({ id, runId }: { id: number; runId: number }) => {
  const { data } = await system.client.tasks.series({
    params: { id, runId },
    query: { metrics: 'http.requests', step: 1 },
  });
  const all = data.series[0]?.values ?? [];
  // After its last whole second a run has no rates: what remains is waiting for results.
  const values = all.slice(0, all.findLastIndex((value) => value !== null) + 1);
  return { points: values.length, holes: values.filter((value) => value === null).length };
};

const online = (agent: AgentProcess) =>
  until(`${agent.name} to be online again`, async () => {
    const { data } = await system.client.agents.get({ params: { id: agent.id } });
    return data.status === 1;
  });

afterEach(async () => {
  for (const agent of [near, far]) {
    agent.process.kill('SIGCONT');
    if (agent.process.exitCode !== null || agent.process.signalCode !== null) agent.startAgain();
    await online(agent);
  }
});

describe('a run with faults', () => {
  it('fails when its only client is killed, and names the agent', async () => {
    const run = await runningTask(300);
    await near.kill('SIGKILL');
    const end = await untilStatus(system.client, run.id, [7, 8, 9]);
    expect(end).toMatchObject({ status: 9, stopReason: 'agentLost' });
    expect((await resultOf(run)).error).toContain('near');
  });

  it('fails when its only server is killed', async () => {
    const run = await runningTask(300);
    await far.kill('SIGKILL');
    const end = await untilStatus(system.client, run.id, [7, 8, 9]);
    expect(end).toMatchObject({ status: 9, stopReason: 'agentLost' });
  });

  it('continues with one client less if configured, and is then inconclusive', async () => {
    const third = await system.addAgent('third');
    const task = httpTask(near, far, {
      sources: [{ agent: { id: near.id } }, { agent: { id: third.id } }],
      duration: { mode: 'time', seconds: 14 },
    });
    const { data: id } = await system.client.tasks.create({ body: task as never });
    await system.client.tasks.start({ params: { id }, body: { agentLossPolicy: 'continue' } });
    await untilStatus(system.client, id, [4]);
    await sleep(1500);
    await third.kill('SIGKILL');
    const end = await untilStatus(system.client, id, [7, 8, 9]);
    expect(end).toMatchObject({ status: 7, verdict: 3 });
  });

  it('survives a killed controller without a gap in its series', async () => {
    const run = await runningTask(20);
    await system.killController('SIGKILL');
    await sleep(3000);
    await system.restartController();
    const end = await untilStatus(system.client, run.id, [7, 8, 9]);
    expect(end).toMatchObject({ status: 7, stopReason: 'duration' });
    const { points, holes } = await holesOf(run);
    expect(points).toBeGreaterThanOrEqual(20);
    expect(holes).toBe(0);
    const { data } = await system.client.tasks.runs({ params: { id: run.id } });
    expect(data).toHaveLength(1);
  });

  it('is only degraded while an agent is silent for ten seconds, less than the limit', async ({ onTestFinished }) => {
    await system.client.settings.update({ body: { agents: { lostAfterSec: 20 } } });
    onTestFinished(() => system.client.settings.update({ body: settings }).then(() => {}));
    const run = await runningTask(20);
    near.process.kill('SIGSTOP');
    const stoppedAt = Date.now();
    await until('the run to be degraded', async () => {
      const { data } = await system.client.tasks.status({ params: { id: run.id } });
      return data.health === 'degraded';
    });
    await sleep(stoppedAt + 10_000 - Date.now());
    near.process.kill('SIGCONT');
    const end = await untilStatus(system.client, run.id, [7, 8, 9]);
    expect(end).toMatchObject({ status: 7, health: 'ok' });
    expect((await holesOf(run)).holes).toBe(0);
  });

  it('follows the policy when an agent is silent for longer, and the agent is usable afterwards', async () => {
    const run = await runningTask(300);
    near.process.kill('SIGSTOP');
    const end = await untilStatus(system.client, run.id, [7, 8, 9]);
    near.process.kill('SIGCONT');
    expect(end).toMatchObject({ status: 9, stopReason: 'agentLost' });
    await online(near);
    const { data: id } = await system.client.tasks.create({
      body: httpTask(near, far, { duration: { mode: 'time', seconds: 2 } }) as never,
    });
    await system.client.tasks.start({ params: { id } });
    expect(await untilStatus(system.client, id, [7, 8, 9])).toMatchObject({ status: 7 });
  });

  it('starts exactly once when two requests come at the same time', async () => {
    const { data: id } = await system.client.tasks.create({
      body: httpTask(near, far, { duration: { mode: 'time', seconds: 2 } }) as never,
    });
    const starts = await Promise.allSettled(
      Array.from({ length: 8 }, () => system.client.tasks.start({ params: { id } })),
    );
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const start of starts) {
      if (start.status === 'rejected') expect(start.reason).toMatchObject({ status: 409 });
    }
    await untilStatus(system.client, id, [7]);
    expect((await system.client.tasks.runs({ params: { id } })).data).toHaveLength(1);
  });

  it('is stopped when its task is deleted, which needs force', async () => {
    const run = await runningTask(300);
    const gentle = await system.client.tasks.removeMany({ body: { array: [run.id] } }).catch((error) => error);
    expect(JSON.stringify(gentle.data ?? gentle)).toContain('TASK_ACTIVE');
    await system.client.tasks.removeMany({ body: { array: [run.id], force: true } });
    const last = await until('the run to end', async () => {
      const { data } = await system.client.tasks.list({ query: { deleted: 'only' } });
      const task = data.find(({ id }) => id === run.id);
      return task?.status === 8 ? task : undefined;
    });
    expect(last.deletedAt).not.toBeNull();
  });
});

describe('an agent with a full disk', () => {
  const disk = mkdtempSync(join(tmpdir(), 'rushhour-disk-'));
  beforeAll(() => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
    mkdirSync(join(disk, 'agent'));
  });
  afterAll(() => {
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  it('still runs its part and delivers its results', async () => {
    const cramped = await system.addAgent('cramped', { dataDir: join(disk, 'agent') });
    execFileSync('sh', ['-c', `dd if=/dev/zero of=${disk}/filler bs=4k 2>/dev/null || true`]);
    const { data: id } = await system.client.tasks.create({
      body: httpTask(cramped, far, { duration: { mode: 'time', seconds: 3 } }) as never,
    });
    await system.client.tasks.start({ params: { id } });
    expect(await untilStatus(system.client, id, [7, 8, 9])).toMatchObject({ status: 7 });
  });
});
