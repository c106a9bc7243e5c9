import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentProcess, runToEnd, type System, startSystem } from './system.ts';

const capacity = 60;
const capacityOfSessions = 25;
const capacityBps = 4_000_000;
const objectBytes = 10_000;
let system: System;
let alice: AgentProcess;
const devices: Server[] = [];

/** Fills with time, not with the ticks of a timer: those are fewer on a busy machine. */
const bucketOf = (perSecond: number) => {
  let [level, filledAt] = [0, performance.now()];
  return (amount: number): boolean => {
    const now = performance.now();
    level = Math.min(perSecond / 2, level + (perSecond * (now - filledAt)) / 1000);
    filledAt = now;
    if (level < amount) return false;
    level -= amount;
    return true;
  };
};

const listen = async (device: Server): Promise<number> => {
  devices.push(device);
  await new Promise<void>((resolve) => device.listen(0, '127.0.0.1', resolve));
  return (device.address() as AddressInfo).port;
};

/** A device that answers so much in a second, each answer as large as it counts, and refuses the rest. */
const startDevice = (perSecond: number, amount: number, body: Buffer) => {
  const take = bucketOf(perSecond);
  return listen(
    createServer((_, response) => {
      response.statusCode = take(amount) ? 200 : 503;
      response.end(body);
    }),
  );
};

/** A device that keeps so many connections and drops others. */
const startTable = () => {
  const table = createServer((_, response) => response.end('ok'));
  table.maxConnections = capacityOfSessions;
  table.keepAliveTimeout = 60_000;
  return listen(table);
};

const goal = { start: 15, max: 400, resolutionPct: 50, trialSec: 2, settleSec: 0 };
const entryOf = (port: number, more: object = {}) => ({
  plugin: { id: 1 },
  values: {
    sources: [{ agent: { id: alice.id } }],
    targets: [{ ip: '127.0.0.1', ports: String(port) }],
    httpParams: { connections: 8 },
    duration: { goal: { ...goal, while: [{ metric: 'http.ko', aggregation: 'sum', operator: '<=', value: 3 }] } },
    ...more,
  },
});

beforeAll(async () => {
  system = await startSystem({ tasks: { allowedTargets: ['127.0.0.0/8'] } });
  alice = await system.addAgent('alice');
});
afterAll(async () => {
  for (const device of devices) {
    device.close();
    device.closeAllConnections();
  }
  await system?.close();
});

describe('a task with a goal', () => {
  it('finds the rate that a device carries and reports every trial', async () => {
    const port = await startDevice(capacity, 1, Buffer.from('ok'));
    const search = { resolutionPct: 50, trialSec: 2, settleSec: 1 };
    const sessions = { ...search, metric: 'concurrentSessions', start: 10, max: 40, rfc9411: '7.5' };
    const throughput = { ...search, metric: 'throughputBps', start: 1_000_000, max: 8_000_000, maxFailedPct: 2 };
    const configuration = [
      entryOf(port),
      entryOf(await startTable(), { requestInterval: 200, duration: { goal: sessions } }),
      entryOf(await startDevice(capacityBps, objectBytes * 8, Buffer.alloc(objectBytes)), {
        duration: { goal: throughput },
      }),
    ];
    const { id, result } = await runToEnd(system.client, { comment: 'search', configuration });
    expect(result).toMatchObject({ status: 7, stopReason: 'goal' });
    const { data } = await system.client.tasks.run({ params: { id, runId: result.id } });
    const [found, open, carried] = data.goals ?? [];
    expect(found).toMatchObject({ metric: 'requestsPerSecond', isDone: true });
    expect(found?.best).toBeGreaterThanOrEqual(15);
    expect(found?.best).toBeLessThanOrEqual(capacity * 1.3);
    const trials = found?.trials ?? [];
    expect(trials.map(({ number }) => number)).toEqual(trials.map((_, index) => index + 1));
    expect(trials.slice(0, 2).map(({ load }) => load)).toEqual([15, 30]);
    expect(trials.find(({ passed }) => !passed)?.reason).toMatch(/http\.ko|were begun/);
    expect(trials.some(({ isRepeat }) => isRepeat)).toBe(true);
    expect(open).toMatchObject({ isDone: true, limit: 'path', rfc9411: '7.5', target: 40 });
    expect(open?.best).toBeGreaterThanOrEqual(15);
    expect(open?.best).toBeLessThanOrEqual(capacityOfSessions + 2);
    expect(open?.trials.find(({ passed }) => !passed)?.reason).toContain('were open');
    expect(carried).toMatchObject({ metric: 'throughputBps', isDone: true });
    expect(carried?.best).toBeGreaterThanOrEqual(capacityBps * 0.4);
    expect(carried?.best).toBeLessThanOrEqual(capacityBps * 1.3);
    const kpis = new Map(carried?.trials[0]?.kpis.map((kpi) => [kpi.name, kpi]));
    expect(kpis.get('Throughput received')?.avg).toBeGreaterThan(500_000);
    expect(kpis.get('Time to first byte')?.max).toBeGreaterThan(0);
    const report = async (format: string) => {
      const answer = await system.client.tasks.report({ params: { id, runId: result.id }, query: { format } } as never);
      return typeof answer === 'string' ? answer : await (answer as unknown as Response).text();
    };
    const html = await report('html');
    for (const words of ['Search for the limit', 'RFC 9411, 7.5', 'Time to first byte', 'Initial avg', 'Target']) {
      expect(html).toContain(words);
    }
    expect(await report('csv')).toContain('requestsPerSecond');
  });

  it('comes after others where it has an order, and reports all tests of RFC 9411 in one place', async () => {
    const fixed = { start: 20, max: 20, resolutionPct: 50, trialSec: 2, settleSec: 0, maxFailedPct: 5 };
    const arrivals: number[][] = [[], []];
    const ports = await Promise.all(
      arrivals.map((times) =>
        listen(
          createServer((_, response) => {
            times.push(performance.now());
            response.end('ok');
          }),
        ),
      ),
    );
    const configuration = [
      entryOf(ports[0] ?? 0, {
        duration: { goal: { ...fixed, order: 4, metric: 'sessionsPerSecond', rfc9411: '7.2' } },
        keepAlive: { enabled: false },
      }),
      entryOf(ports[1] ?? 0, { duration: { goal: { ...fixed, metric: 'requestsPerSecond', rfc9411: '7.3' } } }),
    ];
    const { id, result } = await runToEnd(system.client, { comment: 'in order', configuration });
    expect(result).toMatchObject({ status: 7, stopReason: 'goal' });
    const { data } = await system.client.tasks.run({ params: { id, runId: result.id } });
    const [second, first] = data.goals ?? [];
    expect([first?.best, second?.best]).toEqual([20, 20]);
    expect(second?.trials[0]?.fromSec).toBeGreaterThan(first?.trials.at(-1)?.toSec ?? Number.NaN);
    // While one of them searches, the other sends next to nothing.
    const [late = [], early = []] = arrivals;
    const lastEarly = early.at(-3) ?? 0;
    expect(late.filter((at) => at < lastEarly).length).toBeLessThan(5);
    expect(late.length).toBeGreaterThan(40);
    expect(data.rfc9411).toMatchObject([
      { section: '7.2', metric: 'sessionsPerSecond', initial: 20, target: 20, result: 20, sustainSec: 2 },
      { section: '7.3', metric: 'requestsPerSecond', result: 20, maxFailedPct: 5 },
    ]);
    expect(data.rfc9411?.[0]?.kpis.map(({ name }) => name)).toContain('Time to first byte');
    const answer = await system.client.tasks.report({ params: { id, runId: result.id }, query: { format: 'html' } });
    const html = await answer.text();
    for (const words of [
      '<h2>RFC 9411</h2>',
      'Test objectives',
      'TCP connections per second with HTTP',
      'Initial avg',
    ]) {
      expect(html).toContain(words);
    }
  });

  it('is refused when it contradicts itself', async () => {
    const conditions = [{ metric: 'http.nothing', value: 1 }];
    const contrary = { ...goal, start: 500, metric: 'packetsPerSecond', while: conditions };
    const wrong = { requestsPerSecond: 5, duration: { goal: contrary } };
    await expect(
      system.client.tasks.create({ body: { comment: 'wrong', configuration: [entryOf(1, wrong)] } as never }),
    ).rejects.toMatchObject({
      status: 400,
      data: {
        issues: expect.arrayContaining([
          expect.objectContaining({ path: '/configuration/0/values/duration/goal/metric', code: 'NOT_SUPPORTED' }),
          expect.objectContaining({ path: '/configuration/0/values/duration/goal/start', code: 'RATE_CONFLICT' }),
          expect.objectContaining({ path: '/configuration/0/values/requestsPerSecond', code: 'RATE_CONFLICT' }),
          expect.objectContaining({
            path: '/configuration/0/values/duration/goal/while/0/metric',
            code: 'METRIC_UNKNOWN',
          }),
        ]),
      },
    });
  });
});
