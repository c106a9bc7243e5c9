import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentProcess, runToEnd, type System, startSystem } from './system.ts';

const capacity = 60;
let system: System;
let alice: AgentProcess;
let device: Server;
let tokens = capacity;

/** A device that keeps so many connections and drops others. */
const capacityOfSessions = 25;
let table: Server;
const startTable = async () => {
  table = createServer((_, response) => response.end('ok'));
  table.maxConnections = capacityOfSessions;
  table.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => table.listen(0, '127.0.0.1', resolve));
  return (table.address() as AddressInfo).port;
};

/** A device that carries so many bits in a second and refuses what is more. */
const capacityBps = 4_000_000;
const objectBytes = 10_000;
let pipe: Server;
const startPipe = async () => {
  let bits = 0;
  const timer = setInterval(() => {
    bits = Math.min(capacityBps / 5, bits + capacityBps / 20);
  }, 50);
  const body = Buffer.alloc(objectBytes);
  pipe = createServer((_, response) => {
    response.statusCode = bits > 0 ? 200 : 503;
    if (bits > 0) bits -= objectBytes * 8;
    response.end(body);
  });
  pipe.on('close', () => clearInterval(timer));
  await new Promise<void>((resolve) => pipe.listen(0, '127.0.0.1', resolve));
  return (pipe.address() as AddressInfo).port;
};

/** A device that answers so many requests in a second and refuses the others. */
const startDevice = async () => {
  const timer = setInterval(() => {
    tokens = Math.min(capacity / 5, tokens + capacity / 20);
  }, 50);
  device = createServer((_, response) => {
    tokens -= 1;
    response.statusCode = tokens >= 0 ? 200 : 503;
    if (tokens < 0) tokens = 0;
    response.end('ok');
  });
  device.on('close', () => clearInterval(timer));
  await new Promise<void>((resolve) => device.listen(0, '127.0.0.1', resolve));
  return (device.address() as AddressInfo).port;
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
  for (const server of [device, table, pipe]) {
    server?.close();
    server?.closeAllConnections();
  }
  await system?.close();
});

describe('a task with a goal', () => {
  it('finds the rate that a device carries and reports every trial', async () => {
    const port = await startDevice();
    const search = { resolutionPct: 50, trialSec: 2, settleSec: 1 };
    const sessions = { ...search, metric: 'concurrentSessions', start: 10, max: 40, rfc9411: '7.5' };
    const throughput = { ...search, metric: 'throughputBps', start: 1_000_000, max: 8_000_000, maxFailedPct: 2 };
    const configuration = [
      entryOf(port),
      entryOf(await startTable(), { requestInterval: 200, duration: { goal: sessions } }),
      entryOf(await startPipe(), { duration: { goal: throughput } }),
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
