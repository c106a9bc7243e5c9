import type { Threshold } from '@rushhour/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tasks } from '../../store/tasks/tasks.ts';
import { createRunLab, type RunLab } from '../testing/run-lab.ts';
import type { Script } from '../testing/scripted-agent.ts';

let world: RunLab;
beforeAll(async () => {
  world = await createRunLab();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const fast: Threshold = { name: 'fast', metric: 'http.latency', aggregation: 'p99', operator: '<', value: 100 };
const measured = (value: number) => world.values.set('p99 http.latency', value);
const count = async (sql: string) => Number((await world.store.read.run({ name: '', sql }, []))[0]?.['count']);

const runWith = async (thresholds: Threshold[], script: Script = {}) => {
  const id = await world.addAgent(script);
  const taskId = await world.addTask({ sources: [id], thresholds });
  return { taskId, runId: await world.start(taskId) };
};

describe('thresholds', () => {
  it('that hold make the run pass', async () => {
    measured(50);
    const { runId } = await runWith([fast]);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 7, verdict: 1 });
    expect(run.summary['thresholds']).toMatchObject([{ name: 'fast', actual: 50, outcome: 'passed' }]);
  });

  it('that fail make the run fail, and notify the user who started it', async () => {
    measured(500);
    const { runId } = await runWith([fast]);
    expect(await world.end(runId)).toMatchObject({ status: 7, verdict: 2, validity: { valid: true } });
    const sql = `SELECT count(*) AS count FROM notifications WHERE kind = 'run.verdictFailed' AND "entityID" = ${runId}`;
    expect(await count(sql)).toBe(1);
  });

  it('of the start replace those of the task', async () => {
    measured(500);
    const id = await world.addAgent();
    const taskId = await world.addTask({ sources: [id], thresholds: [fast] });
    const run = await world.end(await world.start(taskId, { thresholds: [{ ...fast, value: 1000 }] }));
    expect(run.verdict).toBe(1);
  });

  it('can end the run as soon as they do not hold, but not before their delay', async () => {
    measured(500);
    const { runId } = await runWith([{ ...fast, abortOnFail: true, delayAbortSec: 1 }], { endsAfterSec: 1_000_000 });
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 8, stopReason: 'threshold', verdict: 2, validity: { valid: true } });
    const elapsedMs = Date.parse(run.finishedAt ?? '') - (run.t0 ?? 0);
    expect(elapsedMs).toBeGreaterThanOrEqual(1000);
    expect(await world.events(runId, 'thresholdBreached')).toMatchObject([{ data: { index: 0, actual: 500 } }]);
  });

  it('stay failed once they ended the run, whatever is measured in the end', async () => {
    measured(500);
    const leave = world.bus.subscribe('task.status', ({ status }) => status === 6 && measured(1));
    const { runId } = await runWith([{ ...fast, abortOnFail: true }], { endsAfterSec: 1_000_000 });
    const run = await world.end(runId);
    leave();
    expect(run.verdict).toBe(2);
    expect(run.summary['thresholds']).toMatchObject([{ actual: 500, outcome: 'failed' }]);
  });

  it('are not judged when nothing was sent', async () => {
    const { runId } = await runWith([fast], { prepare: 'fail' });
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, verdict: 0 });
    expect(run.summary['thresholds']).toMatchObject([{ outcome: 'pending' }]);
  });

  it('decide nothing when the generator was the limit', async () => {
    measured(50);
    const { runId } = await runWith([fast], { outcome: { saturatedSeconds: { cpu: 3 } } });
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 7, verdict: 3, validity: { valid: false } });
  });
});

describe('old runs', () => {
  it('are deleted with all that belongs to them, unless they are pinned', async () => {
    const { taskId, runId: pinned } = await runWith([]);
    await world.end(pinned);
    const old = await world.start(taskId);
    await world.end(old);
    const fresh = await world.start(taskId);
    await world.end(fresh);
    await world.store.database.transaction(async (tx) => {
      const sql = (text: string) => tx.run({ name: '', sql: text }, []);
      await sql(`UPDATE runs SET "finishedAt" = '2020-01-01T00:00:00.000Z' WHERE id IN (${pinned}, ${old})`);
      await sql(`UPDATE runs SET pinned = 1 WHERE id = ${pinned}`);
      await sql(`UPDATE tasks SET "lastRunID" = ${old} WHERE id = ${taskId}`);
    });
    expect(await world.runs.sweep()).toBe(1);
    const kept = await world.store.read.run(
      { name: '', sql: `SELECT id FROM runs WHERE "taskID" = ${taskId} ORDER BY id` },
      [],
    );
    expect(kept.map(({ id }) => Number(id))).toEqual([pinned, fresh]);
    for (const table of ['runEvents', 'runAgents', 'runSamples', 'runNames']) {
      expect(await count(`SELECT count(*) AS count FROM "${table}" WHERE "runID" = ${old}`)).toBe(0);
    }
    expect(await tasks.find(world.store.read, taskId)).toMatchObject({ lastRunID: null });
  });
});
