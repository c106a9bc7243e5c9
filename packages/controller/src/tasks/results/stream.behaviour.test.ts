import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keepLogs } from '../../store/agents/agent-logs.ts';
import { refused } from '../../testing/refused.ts';
import { collectEvents, type SeenEvent } from './testing/collect-events.ts';
import { createMeasuredWorld, type MeasuredWorld, type Started } from './testing/measured-world.ts';

let world: MeasuredWorld;
beforeAll(async () => {
  world = await createMeasuredWorld();
});
afterAll(() => world.close());
const api = () => world.administrator.client.tasks;

describe('the stream of a task', () => {
  let run: Started;
  beforeEach(async () => {
    run = await world.begin();
  });
  const named = (events: readonly SeenEvent[], name: string) => events.filter(({ event }) => event === name);
  const secondsOf = (events: readonly SeenEvent[]) =>
    named(events, 'metrics').map(({ data }) => (data as { seq: number }).seq);

  it('tells status, seconds, events, logs and the end, each once', async () => {
    const events = await collectEvents(world.administrator.client, run.taskId, (seen) => seen.at(-1)?.event === 'end', {
      query: { metrics: 'http.requests,errors' },
      act: async () => {
        await world.report(run, 1, 1);
        await world.report(run, 2, 3);
        await world.happen(run.runId, { type: 'loadChanged' }, { type: 'thresholdBreached', severity: 'error' });
        await world.controller.store.database.transaction((tx) =>
          keepLogs(tx, [
            {
              agentID: world.client.agentId,
              runID: run.runId,
              ts: Date.now(),
              level: 'info',
              source: 'x',
              message: 'hi',
            },
          ]),
        );
        await new Promise((resolve) => setTimeout(resolve, 1200));
        await world.end(run);
      },
    });
    expect(secondsOf(events)).toEqual([1, 2, 3]);
    expect(named(events, 'metrics')[0]?.data).toMatchObject({
      ...{ runId: run.runId, seq: 1 },
      values: [
        {
          labels: {},
          metrics: [
            { metric: 'http.requests', rate: 100 },
            { metric: 'errors', sum: 0 },
          ],
        },
      ],
    });
    const types = named(events, 'event').map(({ data }) => (data as { type: string }).type);
    // The run was stored without an owner: the controller may take it over meanwhile.
    expect(types.filter((type) => type !== 'recovering')).toEqual(['loadChanged', 'status']);
    expect(named(events, 'threshold')).toHaveLength(1);
    expect(named(events, 'log')).toMatchObject([{ data: { message: 'hi' } }]);
    const statuses = named(events, 'status').map(({ data }) => (data as { status: number }).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([4, 7]);
    expect(events.at(-1)).toMatchObject({ event: 'end', data: { runId: run.runId, status: 7, verdict: 1 } });
    expect(named(events, 'resync')).toEqual([]);
    const ids = events.map(({ id }) => id?.split('-').map(Number) ?? []);
    for (const [i, id] of ids.entries()) {
      for (const [j, part] of id.entries()) expect(part).toBeGreaterThanOrEqual(ids[i - 1]?.[j] ?? 0);
    }
  });

  it('sends missed events to a client that reconnects', async () => {
    await world.report(run, 1, 2);
    const [first] = await collectEvents(world.administrator.client, run.taskId, (seen) => seen.length === 1);
    await world.report(run, 3, 6);
    await world.happen(run.runId, { type: 'missed' });
    const isEnough = (seen: readonly SeenEvent[]) => secondsOf(seen).includes(6);
    const byHeader = await collectEvents(world.administrator.client, run.taskId, isEnough, {
      ...(first?.id && { lastEventId: first.id }),
    });
    expect(secondsOf(byHeader)).toEqual([3, 4, 5, 6]);
    expect(named(byHeader, 'event').map(({ data }) => (data as { type: string }).type)).toEqual(['missed']);
    expect(named(byHeader, 'resync')).toEqual([]);
    const byQuery = await collectEvents(world.administrator.client, run.taskId, isEnough, {
      query: { since: first?.id ?? '', types: 'metrics' },
    });
    expect(byQuery.map(({ event }) => event)).toEqual(['metrics', 'metrics', 'metrics', 'metrics']);
    await world.end(run);
  });

  it('says when it cannot go on where the client left off', async () => {
    await world.report(run, 1, 2);
    for (const lastEventId of ['1-1-1-1', `${run.runId}-9999-0-0`, 'rubbish']) {
      const [first] = await collectEvents(world.administrator.client, run.taskId, (seen) => seen.length === 1, {
        lastEventId,
      });
      expect(first).toMatchObject({ event: 'resync', data: { runId: run.runId } });
    }
    await world.end(run);
  });

  it('goes on with the next run of the task', async () => {
    await world.report(run, 1, 1);
    const [first] = await collectEvents(world.administrator.client, run.taskId, (seen) => seen.length === 1);
    await world.end(run);
    const next = await world.begin({ number: 2 }, { taskId: run.taskId });
    const events = await collectEvents(world.administrator.client, run.taskId, (seen) => secondsOf(seen).length > 0, {
      ...(first?.id && { lastEventId: first.id }),
      act: () => world.report(next, 1, 1),
    });
    expect(events[0]).toMatchObject({ event: 'resync', data: { runId: next.runId } });
    expect(named(events, 'metrics')[0]).toMatchObject({ data: { runId: next.runId, seq: 1 } });
    await world.end(next);
  });

  it('is refused before it begins where there is no task, and when there are too many', async () => {
    await expect(api().stream({ params: { id: 99_999 }, query: {} })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    const viewer = await world.controller.signInWith(world.administrator, [41]);
    await world.administrator.client.settings.update({ body: { limits: { streamsPerUser: 2 } } });
    const abort = new AbortController();
    const open = () => viewer.client.tasks.stream({ params: { id: run.taskId }, query: {} }, { signal: abort.signal });
    await open();
    await open();
    await expect(open()).rejects.toEqual(refused(429, 'TOO_MANY_STREAMS'));
    abort.abort();
    await world.end(run);
  });
});
