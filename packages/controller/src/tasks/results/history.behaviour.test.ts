import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom, histogramOf, summaryOf } from '../../metrics/testing/summaries.ts';
import { keepLogs } from '../../store/agents/agent-logs.ts';
import { refused } from '../../testing/refused.ts';
import { createMeasuredWorld, type MeasuredWorld, type Started, sendSeconds } from './testing/measured-world.ts';

let world: MeasuredWorld;
beforeAll(async () => {
  world = await createMeasuredWorld();
});
afterAll(() => world.close());
const api = () => world.administrator.client.tasks;

describe('runs', () => {
  const secret = { plugin: { id: 12 }, values: { ipsecPsk: 'tell nobody', ipsecKey: '********' } };
  const definition = { comment: 'a', accessPlane: [], controlPlane: [], configuration: [secret], dumps: {} };

  it('are listed with agents and history, and shown with what was written down at their end', async () => {
    const first = await world.begin({ definition, comment: 'first', labels: { site: 'lab' } });
    await world.happen(first.runId, { type: 'status', source: 'user:1', data: { status: 1 } });
    const judged = { name: 'a', metric: 'errors', aggregation: 'sum', operator: '<', value: 1 };
    const thresholds = [{ ...judged, actual: 0, outcome: 'passed', breachedAt: null }];
    await world.end(first, { summary: { entries: [], thresholds } });
    const second = await world.begin({ number: 2 }, { taskId: first.taskId });
    const params = { id: first.taskId };
    const { data } = await api().runs({ params, query: { key: 'number', order: 'asc' } });
    expect(data.map(({ id, number, comment }) => [id, number, comment])).toEqual([
      [first.runId, 1, 'first'],
      [second.runId, 2, ''],
    ]);
    expect(data[0]).toMatchObject({
      statusHistory: [
        { status: 1, by: 'user:1' },
        { status: 7, by: 'controller' },
      ],
      agents: [{ id: world.client.agentId, role: 'client' }, { id: world.server.agentId }],
      startedBy: { id: 1, email: 'admin@example.test' },
    });
    expect((await api().runs({ params, query: { verdict: 1 } })).data.map(({ id }) => id)).toEqual([first.runId]);
    const { data: shown } = await api().run({ params: { ...params, runId: first.runId }, query: {} });
    expect(shown.thresholds).toMatchObject(thresholds);
    expect(shown.configSnapshot).toMatchObject({
      configuration: [{ values: { ipsecPsk: '********', ipsecKey: '********' } }],
    });
    expect(JSON.stringify(shown)).not.toContain('tell nobody');
    await expect(api().run({ params: { id: first.taskId, runId: 99_999 }, query: {} })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
    const other = await world.begin();
    await expect(api().run({ params: { id: first.taskId, runId: other.runId }, query: {} })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
    await world.end(second);
    await world.end(other);
  });

  it('can be deleted, but not while they go on or are pinned', async () => {
    const gone = await world.begin();
    await world.report(gone, 1, 3);
    await world.end(gone);
    const pinned = await world.begin({ number: 2 }, { taskId: gone.taskId });
    await world.end(pinned, { pinned: true });
    const active = await world.begin({ number: 3 }, { taskId: gone.taskId });
    const { data } = await api().removeRuns({
      params: { id: gone.taskId },
      body: { array: [gone.runId, pinned.runId, active.runId, 99_999] },
    });
    expect(data).toMatchObject([
      { id: gone.runId, ok: true },
      { id: pinned.runId, ok: false, code: 'RUN_PINNED' },
      { id: active.runId, ok: false, code: 'RUN_ACTIVE' },
      { id: 99_999, ok: false, code: 'NOT_FOUND' },
    ]);
    const { data: left } = await api().runs({ params: { id: gone.taskId }, query: {} });
    expect(left.map(({ id }) => id)).toEqual([active.runId, pinned.runId]);
    const series = api().series({ params: { id: gone.taskId, runId: gone.runId }, query: { metrics: 'errors' } });
    await expect(series).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await world.end(active);
  });

  it('have events and logs that can be searched', async () => {
    const run = await world.begin();
    await world.happen(run.runId, { type: 'a', message: 'one' }, { type: 'b', severity: 'warning' }, { type: 'a' });
    const params = { id: run.taskId };
    const ofRun = async (query: NonNullable<Parameters<ReturnType<typeof api>['events']>[0]['query']>) =>
      (await api().events({ params, query })).data.map(({ seq }) => seq);
    expect(await ofRun({})).toEqual([1, 2, 3]);
    expect(await ofRun({ order: 'desc', count: 2 })).toEqual([3, 2]);
    expect(await ofRun({ type: 'a' })).toEqual([1, 3]);
    expect(await ofRun({ to: '2020-01-01T00:00:00.000Z' })).toEqual([]);
    expect(await ofRun({ from: '2020-01-01T00:00:00.000Z', runId: run.runId })).toEqual([1, 2, 3]);
    const line = { agentID: world.client.agentId, runID: run.runId, ts: Date.now(), source: 'http' };
    await world.controller.store.database.transaction((tx) =>
      keepLogs(tx, [
        { ...line, level: 'debug', message: 'small' },
        { ...line, level: 'warn', message: 'Ports are short' },
        { ...line, level: 'error', message: 'none left', agentID: world.server.agentId },
        { ...line, runID: null, level: 'error', message: 'of no run' },
      ]),
    );
    const logs = async (query: NonNullable<Parameters<ReturnType<typeof api>['logs']>[0]['query']>) =>
      (await api().logs({ params, query })).data.map(({ message }) => message);
    expect(await logs({})).toEqual(['small', 'Ports are short', 'none left']);
    expect(await logs({ level: 'warn' })).toEqual(['Ports are short', 'none left']);
    expect(await logs({ search: 'ports' })).toEqual(['Ports are short']);
    expect(await logs({ agentID: world.server.agentId })).toEqual(['none left']);
    await world.end(run);
  });

  it('have no dumps yet', async () => {
    const run = await world.begin();
    const params = { id: run.taskId, runId: run.runId };
    expect((await api().dumps({ params })).data).toEqual([]);
    const response = await world.administrator.send(
      `${world.controller.url}/v1/tasks/${run.taskId}/runs/${run.runId}/dumps/1`,
    );
    expect(response.status).toBe(404);
    await world.end(run);
  });

  it('are compared: configuration by pointer, metrics by tolerance', async () => {
    const [base, target] = [
      await world.begin({
        definition: { ...definition, configuration: [{ plugin: { id: 1 }, values: { requestsPerSecond: 100 } }] },
      }),
      await world.begin({
        definition: { ...definition, configuration: [{ plugin: { id: 1 }, values: { requestsPerSecond: 200 } }] },
      }),
    ];
    const feed = async (run: Started, factor: number) => {
      const summaries = [1, 2, 3].map((seq) => {
        const latency = histogramOf(createRandom(1), 500, 500 * factor, 0.01);
        return summaryOf({
          seq,
          t0: run.t0,
          counters: { 'http.requests': 100 },
          histograms: { 'http.latency': latency },
        });
      });
      await sendSeconds(world.client, run.runId, summaries);
    };
    await feed(base, 1);
    await feed(target, 2);
    const { data } = await api().compare({ query: { base: base.runId, target: target.runId } });
    expect(data.configDiff).toEqual([{ path: '/configuration/0/values/requestsPerSecond', base: 100, target: 200 }]);
    const row = (name: string) => data.metrics.find(({ metric }) => metric === name);
    expect(row('http.requests')).toMatchObject({ base: 100, target: 100, delta: 0, deltaPct: 0, significant: false });
    expect(row('http.latency.p99')).toMatchObject({ unit: 'µs', better: 'lower', significant: true });
    expect(row('http.latency.p99')?.deltaPct).toBeCloseTo(100, -1);
    expect(data.verdict).toBe('worse');
    const back = await api().compare({
      query: { base: target.runId, target: base.runId, metrics: 'http.latency.p50' },
    });
    expect(back.data).toMatchObject({ verdict: 'better', metrics: [{ metric: 'http.latency.p50' }] });
    const lenient = await api().compare({ query: { base: base.runId, target: target.runId, tolerancePct: 150 } });
    expect(lenient.data.verdict).toBe('same');
    const wrong = api().compare({ query: { base: base.runId, target: target.runId, metrics: 'nonsense' } });
    await expect(wrong).rejects.toMatchObject({ status: 400 });
    await expect(api().compare({ query: { base: 99_999, target: base.runId } })).rejects.toMatchObject({ status: 404 });
    await world.end(base);
    await world.end(target);
  });
});
