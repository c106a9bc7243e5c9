import type { RunAgent } from '@rushhour/contract';
import type { JobOutcome } from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobOf, setRun, storeRun } from '../../metrics/testing/stored-run.ts';
import { tasks } from '../../store/tasks/tasks.ts';
import { refused } from '../../testing/refused.ts';
import { createMeasuredWorld, type MeasuredWorld, origin, type Started } from './testing/measured-world.ts';

let world: MeasuredWorld;
beforeAll(async () => {
  world = await createMeasuredWorld();
});
afterAll(() => world.close());
const api = () => world.administrator.client.tasks;

describe('the status of a task', () => {
  it('tells of a run under way', async () => {
    const run = await world.begin();
    await world.report(run, 1, 5);
    const { data } = await api().status({ params: { id: run.taskId }, query: {} });
    expect(data).toMatchObject({
      ...{
        status: 4,
        statusName: 'running',
        runId: run.runId,
        phase: 'steady',
        paused: false,
        health: 'ok',
        error: '',
      },
      agents: [
        { id: world.client.agentId, name: `agent ${world.client.agentId}`, state: 'running' },
        { id: world.server.agentId, state: 'running' },
      ],
    });
    expect(data.elapsedSec).toBeGreaterThan(59);
    expect(data.elapsedSec + (data.remainingSec ?? 0)).toBeCloseTo(600, 3);
    expect(data.progress).toBeCloseTo(data.elapsedSec / 600, 3);
    await world.end(run);
    const { data: after } = await api().status({ params: { id: run.taskId }, query: {} });
    expect(after).toMatchObject({
      status: 7,
      statusName: 'finished',
      progress: 1,
      remainingSec: 0,
      verdict: 1,
      phase: '',
    });
  });

  it('does not count pauses as time', async () => {
    const now = Date.now();
    const run = await world.begin(
      { pausedMs: 10_000, pausedAt: new Date(now - 20_000).toISOString(), status: 5 },
      { t0: now - 60_000, status: 5 },
    );
    const { data } = await api().status({ params: { id: run.taskId }, query: {} });
    expect(data).toMatchObject({ status: 5, paused: true });
    expect(data.elapsedSec).toBeCloseTo(30, 1);
    await world.end(run);
  });

  it('can be waited for', async () => {
    const run = await world.begin();
    const params = { id: run.taskId };
    const startedAt = performance.now();
    const same = await api().status({ params, query: { waitSec: 1, since: 4 } });
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(same.data.status).toBe(4);
    expect((await api().status({ params, query: { waitSec: 30, since: 3 } })).data.status).toBe(4);
    const waiting = api().status({ params, query: { waitSec: 30, since: 4 } });
    await world.end(run);
    expect((await waiting).data.status).toBe(7);
  });

  it('is that of no run when there was none', async () => {
    const taskId = await world.controller.store.change(origin, (tx) =>
      tasks.insert(tx, {
        ...{ comment: '', status: 0, error: '', scheduleEnabled: false },
        ...{ accessPlane: [], controlPlane: [], configuration: [], dumps: {} },
      }),
    );
    expect((await api().status({ params: { id: taskId }, query: {} })).data).toMatchObject({
      ...{ status: 0, statusName: 'created', runId: null, progress: 0, remainingSec: null, agents: [] },
    });
    await expect(api().metrics({ params: { id: taskId }, query: {} })).rejects.toEqual(refused(409, 'NEVER_RUN'));
    expect((await api().runs({ params: { id: taskId }, query: {} })).data).toEqual([]);
    expect((await api().events({ params: { id: taskId }, query: {} })).data).toEqual([]);
    expect((await api().logs({ params: { id: taskId }, query: {} })).data).toEqual([]);
  });
});

describe('measurements', () => {
  let run: Started;
  beforeAll(async () => {
    run = await world.begin();
    await world.report(run, 1, 10);
  });
  afterAll(() => world.end(run));

  it('of the latest second are shown as a whole or by part', async () => {
    const { data } = await api().metrics({ params: { id: run.taskId }, query: {} });
    expect(data).toMatchObject({ runId: run.runId, seq: 10, ts: new Date(run.t0 + 10_000).toISOString() });
    const metric = (name: string) => data.values[0]?.metrics.find((one) => one.metric === name);
    expect(data.values).toHaveLength(1);
    expect(metric('http.requests')).toMatchObject({ type: 'counter', sum: 100, rate: 100 });
    expect(metric('http.latency')).toMatchObject({ type: 'histogram', unit: 'µs', count: 100 });
    expect(metric('agentCpuPct')).toMatchObject({ type: 'gauge', unit: '%', last: 40 });
    expect(metric('errors')).toMatchObject({ sum: 0 });
    const byAgent = await api().metrics({
      params: { id: run.taskId },
      query: { by: 'agent', metrics: 'txBytes,rxBytes' },
    });
    expect(byAgent.data.values.map(({ labels }) => labels['agentID'])).toEqual([
      String(world.client.agentId),
      String(world.server.agentId),
    ]);
  });

  it('come as series, and an unknown name is answered with the known ones', async () => {
    const params = { id: run.taskId, runId: run.runId };
    const { data } = await api().series({
      params,
      query: {
        ...{ metrics: 'http.requests,txBps', step: 5, by: 'plugin' },
        from: new Date(run.t0 + 1000).toISOString(),
        to: new Date(run.t0 + 10_000).toISOString(),
      },
    });
    expect(data).toEqual({
      step: 5,
      t: [run.t0 + 5000, run.t0 + 10_000],
      series: [
        { metric: 'http.requests', labels: { plugin: 'http', pluginID: '1', role: 'client' }, values: [100, 100] },
        { metric: 'txBps', labels: { plugin: 'http', pluginID: '1', role: 'client' }, values: [8000, 8000] },
        { metric: 'http.requests', labels: { plugin: 'http', pluginID: '1', role: 'server' }, values: [0, 0] },
        { metric: 'txBps', labels: { plugin: 'http', pluginID: '1', role: 'server' }, values: [0, 0] },
      ],
    });
    const unknown = api().series({ params, query: { metrics: 'http.requests,http.nonsense' } });
    await expect(unknown).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [{ in: 'query', path: '/metrics', code: 'UNKNOWN_METRIC' }],
        known: expect.arrayContaining(['http.requests', 'http.latency', 'txBps', 'errors']),
      },
    });
    await expect(api().metrics({ params: { id: run.taskId }, query: { metrics: 'x' } })).rejects.toMatchObject({
      status: 400,
    });
    await expect(api().stream({ params: { id: run.taskId }, query: { metrics: 'x' } })).rejects.toMatchObject({
      status: 400,
    });
  });

  it('are told apart by agent, with engine, load and errors', async () => {
    const params = { id: run.taskId, runId: run.runId };
    const { data, cursor } = await api().runAgents({ params, query: { count: 1, page: 1 } });
    expect(cursor).toEqual({ count: 1, currentPage: 1, totalPages: 2, totalRows: 2 });
    expect(data).toMatchObject([
      {
        ...{
          id: world.client.agentId,
          role: 'client',
          engines: ['http'],
          engineVersion: '1',
          cpuMaxPct: 40,
          errors: 2,
        },
        ...{ notes: [], saturatedSeconds: {} },
      },
    ]);
    expect((data[0] as RunAgent).metrics.find(({ metric }) => metric === 'http.requests')).toMatchObject({ sum: 800 });
  });

  it('name what limited an agent, even like a member of every object', async () => {
    const { store } = world.controller;
    const saturatedSeconds = { cpu: 1, constructor: 2 };
    const outcome: JobOutcome = { status: 'finished', error: '', notes: [], saturatedSeconds, lastSeq: 0 };
    const { runId, taskId } = await storeRun(store, { agents: { [world.client.agentId]: [{ ...jobOf(), outcome }] } });
    const { data } = await api().runAgents({ params: { id: taskId, runId }, query: {} });
    expect(data).toMatchObject([{ saturatedSeconds }]);
  });

  it('say what the run came to so far, and how its thresholds stand', async () => {
    const threshold = { name: 'quick', metric: 'http.latency', aggregation: 'p99', operator: '<', value: 1e6 } as const;
    await setRun(world.controller.store, run.runId, { thresholds: [threshold] });
    const params = { id: run.taskId, runId: run.runId };
    const { data } = await api().run({ params, query: {} });
    expect(data).toMatchObject({
      ...{ id: run.runId, status: 4, startedBy: { id: 1 } },
      thresholds: [{ ...threshold, outcome: 'pending', breachedAt: null }],
      summary: [
        { configurationIndex: 0, plugin: 'http', role: 'client', window: 'steady' },
        { configurationIndex: 0, plugin: 'http', role: 'server', window: 'steady' },
      ],
    });
    expect(data.thresholds[0]?.actual).toBeGreaterThan(800);
    const names = (result: typeof data) => result.summary[0]?.metrics.map(({ metric }) => metric);
    expect(names(data)).not.toContain('http.errors.reset');
    const { data: full } = await api().run({ params, query: { full: true } });
    expect(names(full)).toContain('http.errors.reset');
  });
});
