import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRunLab, eventually, type RunLab } from '../testing/run-lab.ts';
import type { Script } from '../testing/scripted-agent.ts';

let world: RunLab;
beforeAll(async () => {
  world = await createRunLab();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const pair = async (client: Script = {}, server: Script = {}) => {
  const ids = { client: await world.addAgent(client), server: await world.addAgent(server) };
  return { ...ids, taskId: await world.addTask({ sources: [ids.client], targets: [ids.server] }) };
};
const heardBy = (id: number) => world.net.agentOf(id).heard.map(({ type }) => type);

describe('a run', () => {
  it('goes from the queue to its planned end, and its task with it', async () => {
    const { client, server, taskId } = await pair();
    const statuses: number[] = [];
    world.bus.subscribe('task.status', ({ id, status }) => id === taskId && statuses.push(status));
    const runId = await world.start(taskId, { comment: 'first', labels: { build: '7' } });
    const run = await world.end(runId);
    expect(run).toMatchObject({
      ...{ number: 1, status: 7, stopReason: 'duration', error: '', verdict: 0, health: 'ok', deadlineAt: null },
      ...{ comment: 'first', labels: { build: '7' }, validity: { valid: true, reasons: [] } },
    });
    expect(run.summary).toMatchObject({ entries: [{ plugin: 'http' }], thresholds: [] });
    expect(await world.statuses(runId)).toEqual([1, 2, 3, 4, 6, 7]);
    expect(statuses).toEqual([1, 2, 3, 4, 6, 7]);
    expect(heardBy(client)).toEqual(['prepare', 'start', 'forget']);
    expect(heardBy(server)).toEqual(['prepare', 'start', 'stop', 'forget']);
    const { startedAt, finishedAt } = run;
    const mirrored = { status: 7, lastRunID: runId, startedAt, finishedAt, error: '' };
    expect(await world.task(taskId)).toMatchObject(mirrored);
    expect((await world.agentsOf(runId)).map(({ state }) => state)).toEqual(['ended', 'ended']);
  });

  it('gives all agents the same start, later than the order to start', async () => {
    const { client, server, taskId } = await pair();
    const run = await world.end(await world.start(taskId));
    const starts = [client, server].map((id) => world.net.agentOf(id).heard.find(({ type }) => type === 'start'));
    expect(starts.map((start) => start && 'at' in start && start.at)).toEqual([run.t0, run.t0]);
    expect(run.startedAt).toBe(new Date(run.t0 ?? 0).toISOString());
  });

  it('that ends by count is finished when its clients are', async () => {
    const client = await world.addAgent({ endsAfterSec: 2 });
    const server = await world.addAgent();
    const taskId = await world.addTask({ sources: [client], targets: [server], duration: { mode: 'count' } });
    const run = await world.end(await world.start(taskId));
    expect(run).toMatchObject({ status: 7, stopReason: 'duration', plannedSec: null });
  });

  it('numbers events without a gap, and counts the runs of a task', async () => {
    const { taskId } = await pair();
    await world.end(await world.start(taskId));
    const runId = await world.start(taskId);
    expect((await world.end(runId)).number).toBe(2);
    const rows = await world.store.read.run(
      { name: '', sql: `SELECT "seq" FROM "runEvents" WHERE "runID" = ${runId} ORDER BY "seq"` },
      [],
    );
    expect(rows.map(({ seq }) => Number(seq))).toEqual(rows.map((_, i) => i + 1));
  });
});

describe('a run fails', () => {
  it('when an agent cannot prepare, and the other agents abandon it', async () => {
    const { client, server, taskId } = await pair({ prepare: 'fail' });
    const runId = await world.start(taskId);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'engineError', verdict: 0, startedAt: null });
    expect(run.error).toMatch(/port 80 is taken/);
    expect(await world.statuses(runId)).toEqual([1, 2, 9]);
    expect((await world.task(taskId)).error).toBe(run.error);
    await eventually(async () => expect(heardBy(server)).toContain('abandon'));
    expect(heardBy(client)).not.toContain('start');
  });

  it('when an agent takes too long to prepare', async () => {
    world.settings.tasks.prepareTimeoutSec = 0.3;
    const { taskId } = await pair({ prepare: 'never' });
    const run = await world.end(await world.start(taskId));
    expect(run).toMatchObject({ status: 9, stopReason: 'prepareTimeout' });
  });

  it('when an agent shows no traffic at the common start', async () => {
    const { client, taskId } = await pair({ isSilent: true });
    const runId = await world.start(taskId);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'engineError' });
    expect(run.error).toMatch(/no traffic at the common start/);
    expect(await world.statuses(runId)).toEqual([1, 2, 3, 9]);
    await eventually(async () => expect(heardBy(client)).toContain('abandon'));
  });

  it('when the engine of the only client breaks, and what was measured until then is kept', async () => {
    const { taskId } = await pair({ endsAfterSec: 2, outcome: { status: 'failed', error: 'out of memory' } });
    const runId = await world.start(taskId);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'engineError', validity: { valid: false }, verdict: 3 });
    expect(run.error).toMatch(/out of memory/);
    expect(await world.statuses(runId)).toEqual([1, 2, 3, 4, 6, 9]);
    expect(run.summary).toMatchObject({ entries: [{ plugin: 'http' }] });
    expect(await world.events(runId, 'engineError')).toHaveLength(1);
  });

  it('in the queue when its definition is no longer valid', async () => {
    const { client, taskId } = await pair();
    world.net.disconnect(client);
    const runId = await world.start(taskId);
    await world.crash();
    world.planner.issues = [{ severity: 'error', code: 'GONE', path: '/x', message: 'network 4 is gone' }];
    await world.revive();
    expect(await world.end(runId)).toMatchObject({ status: 9, error: 'network 4 is gone' });
  });
});

describe('no state lasts for ever', () => {
  it('running: agents that miss their planned end are stopped', async () => {
    await world.retime({ marginMs: 200 });
    const client = await world.addAgent({ endsAfterSec: 1_000_000 });
    const taskId = await world.addTask({ sources: [client], duration: { mode: 'time', seconds: 1 } });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    expect(await world.end(runId)).toMatchObject({ status: 7, stopReason: 'duration' });
    expect(heardBy(client)).toContain('stop');
  });

  it('stopping: agents that never end are given up, and the result says so', async () => {
    world.settings.tasks.stopTimeoutSec = 0.3;
    const { server, taskId } = await pair({}, { neverEnds: true });
    const run = await world.end(await world.start(taskId));
    expect(run).toMatchObject({ status: 7, verdict: 3, validity: { valid: false } });
    expect(run.validity.reasons.join()).toMatch(/did not end in time/);
    await eventually(async () => expect(heardBy(server)).toContain('abandon'));
  });

  it('stopping: samples that never arrive are given up, and the result says so', async () => {
    world.settings.tasks.stopTimeoutSec = 0.3;
    const { taskId } = await pair({ losesLastSummary: true });
    const run = await world.end(await world.start(taskId));
    expect(run).toMatchObject({ status: 7, verdict: 3, validity: { valid: false } });
    expect(run.validity.reasons.join()).toMatch(/1 measured second of .+ did not arrive/);
  });

  it('paused: too long a pause ends the run', async () => {
    world.settings.tasks.maxPauseSec = 0.3;
    const { taskId } = await pair({ endsAfterSec: 1000 });
    const runId = await world.start(taskId);
    await world.reach(runId, 4);
    await world.change((tx) => world.runs.pause(tx, taskId));
    expect(await world.end(runId)).toMatchObject({ status: 8, stopReason: 'limit' });
  });

  it('queued: a run that waits too long fails', async () => {
    world.settings.tasks.queueTimeoutSec = 0.3;
    const { client, taskId } = await pair();
    world.net.disconnect(client);
    const runId = await world.start(taskId);
    expect(await world.end(runId)).toMatchObject({ status: 9, stopReason: 'queueTimeout' });
    expect(await world.statuses(runId)).toEqual([1, 9]);
  });
});

describe('the user who started a run', () => {
  it('hears of its failure', async () => {
    const { taskId } = await pair({ prepare: 'fail' });
    const runId = await world.start(taskId);
    await world.end(runId);
    const sql = `SELECT * FROM notifications WHERE "entityID" = ${runId}`;
    const rows = await world.store.read.run({ name: '', sql }, []);
    expect(rows).toMatchObject([{ kind: 'run.failed', severity: 'error', entityType: 'run' }]);
  });
});
