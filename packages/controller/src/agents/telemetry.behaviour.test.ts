import type { AgentHealth } from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepHealth, latestHealth, sweepHealth } from '../store/agents/agent-health.ts';
import { keepLogs, sweepLogs } from '../store/agents/agent-logs.ts';
import { enrolTestAgent, type TestAgent } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
let agent: TestAgent;
let id: number;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  agent = await enrolTestAgent(administrator.client, { url: controller.url });
  id = agent.agentId;
});
afterAll(() => controller.close());

const reading = (load1: number, more: Partial<AgentHealth> = {}): AgentHealth => ({
  ...{ cpuPct: [load1 * 10, 0], memoryUsedMb: 100, load1, diskFreeMb: 5000 },
  interfaces: [{ name: 'eth0', rxBps: load1, txBps: 0, rxPps: 0, txPps: 0, rxDrops: 1, txDrops: 0 }],
  ...more,
});
const metrics = async (query: object) => (await administrator.client.agents.metrics({ params: { id }, query })).data;
const write = (work: Parameters<TestController['store']['database']['transaction']>[0]) =>
  controller.store.database.transaction(work);

describe('the health of an agent', () => {
  it('is there as soon as the agent told it, and is stored within seconds', async () => {
    expect(await metrics({})).toEqual({ latest: null, series: [] });
    agent.send({ type: 'heartbeat', sentAt: Date.now(), clockOffsetMs: 0, roundTripMs: 1, health: reading(0.25) });
    await expect.poll(() => metrics({})).toMatchObject({ latest: { load1: 0.25, cpuPct: [2.5, 0] }, series: [] });
    const stored = async () => (await latestHealth(controller.store.read, id))?.health.load1;
    await expect.poll(stored, { interval: 500 }).toBe(0.25);
    expect((await metrics({})).series).toEqual([]);
    expect((await metrics({ step: 3600 })).series).toHaveLength(1);
  });

  it('is averaged over steps; drops are added up', async () => {
    const start = Math.floor((Date.now() - 3_600_000) / 60_000) * 60_000;
    const at = (seconds: number) => start + seconds * 1000;
    await write((tx) =>
      keepHealth(tx, [
        { agentID: id, at: at(0), health: reading(1) },
        { agentID: id, at: at(10), health: reading(3, { cpuPct: [50, 100, 10] }) },
        { agentID: id, at: at(60), health: reading(5) },
        { agentID: id + 1, at: at(5), health: reading(9) },
      ]),
    );
    const span = { from: new Date(at(0)).toISOString(), to: new Date(at(119)).toISOString() };
    const { series } = await metrics({ ...span, step: 60 });
    expect(series).toEqual([
      {
        ...{ ts: span.from, load1: 2, cpuPct: [30, 50, 10], memoryUsedMb: 100, diskFreeMb: 5000 },
        interfaces: [{ name: 'eth0', rxBps: 2, txBps: 0, rxPps: 0, txPps: 0, rxDrops: 2, txDrops: 0 }],
      },
      expect.objectContaining({ ts: new Date(at(60)).toISOString(), load1: 5 }),
    ]);
    expect((await metrics({ ...span })).series.map(({ load1 }) => load1)).toEqual([1, 3, 5]);
    await expect(metrics({ from: '2016-12-31T23:59:60Z' })).rejects.toEqual(refused(400, 'INVALID_REQUEST'));
    await expect(metrics({ from: span.to, to: span.from })).rejects.toEqual(refused(400, 'INVALID_REQUEST'));
  });

  it('is read whole, however many readings there are', async () => {
    const start = Date.now() - 12 * 3_600_000;
    const readings = Array.from({ length: 2500 }, (_, i) => ({
      ...{ agentID: id, at: start + i * 1000, health: reading(i % 2) },
    }));
    await write((tx) => keepHealth(tx, readings));
    const span = { from: new Date(start).toISOString(), to: new Date(start + 2_499_000).toISOString() };
    expect((await metrics({ ...span, step: 1 })).series).toHaveLength(2500);
  });

  it('is forgotten after a day', async () => {
    const old = Date.now() - 25 * 3_600_000;
    await write((tx) => keepHealth(tx, [{ agentID: id, at: old, health: reading(7) }]));
    const range = { from: new Date(old - 1000).toISOString(), to: new Date(old + 1000).toISOString() };
    expect((await metrics(range)).series).toHaveLength(1);
    await sweepHealth(controller.store.database);
    expect((await metrics(range)).series).toHaveLength(0);
  });
});

describe('the log of an agent', () => {
  const logs = async (query: object) => (await administrator.client.agents.logs({ params: { id }, query })).data;

  it('is stored soon after it was reported, newest first, by level, time and text', async () => {
    const line = (ts: number, level: string, message: string) => ({ ts, level, source: 'engine', message });
    const now = Date.now();
    agent.send({
      type: 'logs',
      lines: [
        line(now - 5000, 'debug', 'Socket opened'),
        line(now - 4000, 'warn', 'slow\0 peer'),
        line(now, 'error', 'gone'),
      ],
    });
    await expect.poll(() => logs({})).toHaveLength(3);
    expect((await logs({})).map(({ message }) => message)).toEqual(['gone', 'slow peer', 'Socket opened']);
    expect((await logs({ level: 'warn' })).map(({ level }) => level)).toEqual(['error', 'warn']);
    expect(await logs({ search: 'sOCKET' })).toMatchObject([{ level: 'debug', source: 'engine' }]);
    const since = new Date(now - 4500).toISOString();
    expect(await logs({ since })).toHaveLength(2);
    expect(await logs({ count: 1, page: 2 })).toMatchObject([{ message: 'slow peer' }]);
  });

  it('that floods is cut, and says so', async () => {
    const lines = Array.from({ length: 1500 }, (_, i) => ({ ts: i, level: 'info', source: 'flood', message: `${i}` }));
    agent.send({ type: 'logs', lines });
    await expect
      .poll(() => logs({ search: 'dropped' }))
      .toMatchObject([{ source: 'controller', message: '500 lines were dropped: too many at once' }]);
  });

  it('is forgotten when the setting says', async () => {
    const ts = Date.now() - 40 * 86_400_000;
    await write((tx) =>
      keepLogs(tx, [{ agentID: id, runID: null, ts, level: 'info', source: 'old', message: 'ancient' }]),
    );
    expect(await logs({ search: 'ancient' })).toHaveLength(1);
    await sweepLogs(controller.store.database, 30);
    expect(await logs({ search: 'ancient' })).toHaveLength(0);
  });
});
