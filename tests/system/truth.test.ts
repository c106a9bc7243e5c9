import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Nginx, startNginx } from '../engines/programs.ts';
import { type AgentProcess, httpTask, metricOf, runToEnd, type System, startSystem, untilStatus } from './system.ts';

const port = 28_480;
let system: System;
let nginx: Nginx;
let near: AgentProcess;
let far: AgentProcess;

beforeAll(async () => {
  nginx = await startNginx(port, `location / { return 200 "hello\\n"; }`);
  system = await startSystem();
  near = await system.addAgent('near');
  far = await system.addAgent('far');
});
afterAll(async () => {
  await system?.close();
  await nginx?.stop();
});

const outside = { targets: [{ ip: '127.0.0.1', ports: String(port) }] };

describe('what a run reports', () => {
  it('matches the log of nginx request for request, in the result, the series and every report', async () => {
    const values = { ...outside, httpParams: { path: '/counted' }, duration: { mode: 'time', seconds: 4 } };
    const { id, result } = await runToEnd(system.client, httpTask(near, far, { ...values, requestsPerSecond: 500 }));
    expect(result).toMatchObject({ status: 7, stopReason: 'duration', error: '' });
    const logged = nginx.accessLog().filter((line) => line.includes(' /counted ')).length;
    expect(logged).toBeGreaterThan(1900);
    expect(metricOf(result, 'client', 'http.ok')?.['sum']).toBe(logged);

    const params = { id, runId: result.id };
    const { data } = await system.client.tasks.series({ params, query: { metrics: 'http.ok', agg: 'sum', step: 1 } });
    expect(data.series[0]?.values.reduce((sum: number, value) => sum + (value ?? 0), 0)).toBe(logged);
    for (const [format, pattern] of [
      ['json', new RegExp(`"metric":"http.ok"[^}]*"sum":${logged}\\b`)],
      ['csv', new RegExp(`http\\.ok,[^,]*,counter,${logged},`)],
      ['html', /<svg/],
      ['junit', /<testsuite /],
      ['pdf', /^%PDF-/],
    ] as const) {
      const report = await system.client.tasks.report({ params, query: { format } });
      expect(await report.text(), format).toMatch(pattern);
    }
  });

  it('holds the configured rate', async () => {
    const values = { requestsPerSecond: 1000, duration: { mode: 'time', seconds: 6 } };
    const { result } = await runToEnd(system.client, httpTask(near, far, values));
    const sent = metricOf(result, 'client', 'http.requests')?.['sum'] ?? 0;
    expect(Math.abs(sent - 6000) / 6000).toBeLessThan(0.005);
    expect(metricOf(result, 'server', 'http.served')?.['sum']).toBe(sent);
  });

  it('follows the stages of the load second by second', async () => {
    const stages = [
      { seconds: 2, target: 200, shape: 'linear' },
      { seconds: 2, target: 400, shape: 'step' },
      { seconds: 2, target: 0, shape: 'linear' },
    ];
    const { id, result } = await runToEnd(
      system.client,
      httpTask(near, far, {
        ...outside,
        httpParams: { path: '/staged' },
        requestsPerSecond: undefined,
        duration: { stages },
      }),
    );
    const logged = nginx.accessLog().filter((line) => line.includes(' /staged ')).length;
    expect(Math.abs(logged - (200 + 800 + 400))).toBeLessThan(15);
    const params = { id, runId: result.id };
    const { data } = await system.client.tasks.series({
      params,
      query: { metrics: 'http.requests', agg: 'sum', step: 1 },
    });
    const sent = (data.series[0]?.values ?? []).map((value) => value ?? 0);
    expect(sent.reduce((sum, value) => sum + value, 0)).toBe(logged);
    for (const [second, planned] of [50, 150, 400, 400, 300, 100].entries()) {
      expect(Math.abs((sent[second] ?? 0) - planned), `second ${second + 1}`).toBeLessThan(60);
    }
  });

  it('arrives every second on the event stream, and resumes after a disconnect', async () => {
    const { data: id } = await system.client.tasks.create({
      body: httpTask(near, far, { duration: { mode: 'time', seconds: 8 } }) as never,
    });
    await system.client.tasks.start({ params: { id } });
    const seconds: number[] = [];
    let lastId = '';
    const read = async (until: number, headers: Record<string, string>) => {
      const events = await system.client.tasks.stream({ params: { id }, query: { types: 'metrics,end' } }, { headers });
      for await (const { event, id: eventId, data } of events) {
        if (event === 'end') return;
        lastId = eventId ?? lastId;
        if (event === 'metrics') seconds.push((data as { seq: number }).seq);
        if (seconds.length >= until) return;
      }
    };
    await untilStatus(system.client, id, [4]);
    await read(2, {});
    await sleep(2500);
    await read(100, { 'last-event-id': lastId });
    expect(seconds.at(-1)).toBeGreaterThanOrEqual(8);
    expect(seconds).toEqual(Array.from({ length: seconds.length }, (_, i) => (seconds[0] ?? 0) + i));
  });

  it('follows a change of load while it runs, with an event', async () => {
    const { data: id } = await system.client.tasks.create({
      body: httpTask(near, far, { requestsPerSecond: 100, duration: { mode: 'time', seconds: 10 } }) as never,
    });
    const { data: started } = await system.client.tasks.start({ params: { id } });
    await untilStatus(system.client, id, [4]);
    await sleep(3000);
    const { data } = await system.client.tasks.changeLoad({
      body: {
        id,
        changes: [
          { index: 0, requestsPerSecond: 400 },
          { index: 7, requestsPerSecond: 1 },
        ],
      },
    });
    expect(data.applied).toEqual([0]);
    expect(data.rejected).toMatchObject([{ index: 7 }]);
    await untilStatus(system.client, id, [7]);
    const params = { id, runId: started.runId };
    const series = await system.client.tasks.series({ params, query: { metrics: 'http.requests', step: 1 } });
    const rates = (series.data.series[0]?.values ?? []).filter((value) => value !== null);
    expect(rates[1]).toBeLessThan(150);
    expect(rates.at(-2)).toBeGreaterThan(350);
    const events = await system.client.tasks.events({ params: { id }, query: { type: 'loadChanged' } });
    expect(events.data.length).toBeGreaterThan(0);
  });

  it('stops during a pause and resumes after it', async () => {
    const { data: id } = await system.client.tasks.create({
      body: httpTask(near, far, { duration: { mode: 'time', seconds: 6 } }) as never,
    });
    const { data: started } = await system.client.tasks.start({ params: { id } });
    await untilStatus(system.client, id, [4]);
    await sleep(2000);
    await system.client.tasks.pause({ params: { id } });
    await sleep(3000);
    await system.client.tasks.resume({ params: { id } });
    await untilStatus(system.client, id, [7]);
    const { data } = await system.client.tasks.run({ params: { id, runId: started.runId }, query: { full: true } });
    const sent = metricOf(data, 'client', 'http.requests')?.['sum'] ?? 0;
    expect(sent).toBeGreaterThan(1000);
    expect(sent).toBeLessThan(1300);
  });

  it('is evaluated by thresholds, and a breach stops the run if configured', async () => {
    const { data: id } = await system.client.tasks.create({
      body: httpTask(near, far, { duration: { mode: 'time', seconds: 30 } }) as never,
    });
    const base = { metric: 'http.requests', aggregation: 'sum', window: 'all' } as const;
    const { data: thresholds } = await system.client.tasks.setThresholds({
      body: {
        id,
        thresholds: [
          { ...base, name: 'some', operator: '>', value: 10 },
          { ...base, name: 'not so many', operator: '<', value: 500, abortOnFail: true },
        ],
      },
    });
    expect(thresholds).toHaveLength(2);
    const { data: started } = await system.client.tasks.start({ params: { id } });
    expect(await untilStatus(system.client, id, [7, 8, 9])).toMatchObject({
      status: 8,
      stopReason: 'threshold',
      verdict: 2,
    });
    const { data } = await system.client.tasks.run({ params: { id, runId: started.runId } });
    expect(data.thresholds.map(({ outcome }) => outcome)).toEqual(['passed', 'failed']);
  });
});

describe('a task that must not run', () => {
  it('is refused by the controller when its target is not allowed', async () => {
    const task = httpTask(near, far, { targets: [{ ip: '198.51.100.7', ports: '80' }] });
    const problem = await system.client.tasks
      .create({ body: task as never })
      .then(({ data: id }) => system.client.tasks.start({ params: { id } }))
      .catch((error) => error);
    expect(problem.status).toBe(400);
    expect(JSON.stringify(problem.data.issues)).toContain('TARGET_NOT_ALLOWED');
  });
});
