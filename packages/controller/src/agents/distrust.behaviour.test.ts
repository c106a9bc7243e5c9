import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { jobOf, storeRun } from '../metrics/testing/stored-run.ts';
import { runRecordsOf } from '../store/runs/run-attempts.ts';
import { connectTestAgent, createTestIdentity, enrolTestAgent, type TestAgent, testFacts } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { useOpenAgents } from '../testing/use-open-agents.ts';
import { insertActiveRun } from './testing/active-run.ts';

let controller: TestController;
let administrator: SignedIn;
const open = useOpenAgents();
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const enrolled = async () => {
  const agent = await enrolTestAgent(administrator.client, { url: controller.url });
  open.push(agent);
  return agent;
};
const messagesOf = async ({ agentId: id }: TestAgent) =>
  (await administrator.client.agents.logs({ params: { id }, query: { count: 100 } })).data.map(
    ({ message }) => message,
  );
const line = { ts: 1, level: 'info', source: 'test', message: 'a line' };

describe('a value that no database can keep', () => {
  it.each<[string, object]>([
    ['a huge time', { type: 'logs', lines: [{ ...line, ts: 1e300 }] }],
    ['a huge run', { type: 'logs', lines: [{ ...line, runId: 1e300 }] }],
    ['a huge number of a report', { type: 'prepared', runId: 1e300, epoch: 1 }],
    ['a huge offset', { type: 'heartbeat', sentAt: 1, clockOffsetMs: 1e300, roundTripMs: 0 }],
  ])('%s ends the session of its agent and loses nothing of others', async (_, message) => {
    const [agent, other] = [await enrolled(), await enrolled()];
    other.send({ type: 'logs', lines: [line] });
    agent.send(message);
    expect((await agent.closed).code).toBe(1008);
    await expect.poll(() => messagesOf(other)).toEqual(['a line']);
  });

  it('huge numbers among the facts of an enrolment are refused, and the token is not used', async () => {
    const { data } = await administrator.client.agents.createToken({ body: { name: 'one', maxUses: 1, ttlSec: 600 } });
    const facts = { ...testFacts(), memoryMb: 1e300, cpuCores: 1e300 };
    const enrol = (more: object) => connectTestAgent({ url: controller.url, token: data.token, ...more });
    await expect(enrol({ facts })).rejects.toThrow(/1008|INVALID|refused/i);
    open.push(await enrol({}));
  });

  it('half a character or NUL in a text is replaced', async () => {
    const agent = await enrolled();
    agent.send({ type: 'logs', lines: [{ ...line, message: 'cut \ud83d here\u0000' }] });
    await expect.poll(() => messagesOf(agent)).toEqual(['cut \ufffd here']);
  });
});

describe('an agent', () => {
  it('writes into the log of its own runs only', async () => {
    const [agent, other] = [await enrolled(), await enrolled()];
    const { runID } = await insertActiveRun(controller.store, [other.agentId]);
    agent.send({ type: 'logs', lines: [{ ...line, message: 'forged', runId: runID }, line] });
    other.send({ type: 'logs', lines: [{ ...line, message: 'own', runId: runID }] });
    await expect.poll(() => messagesOf(other)).toEqual(['own']);
    await expect.poll(() => messagesOf(agent)).toEqual(['a line']);
  });

  it('that floods the channel is disconnected', async () => {
    const agent = await enrolled();
    for (let i = 0; i < 2000; i += 1) agent.beat();
    expect(await agent.closed).toEqual({ code: 1008, reason: 'too many messages of type heartbeat' });
  });

  it('that connects again and again is refused for a while, and others are not', async () => {
    const identity = createTestIdentity();
    const connect = () => connectTestAgent({ url: controller.url, identity, heartbeat: false });
    const attempts = await Promise.allSettled(Array.from({ length: 60 }, connect));
    const reasons = attempts.map((attempt) => (attempt.status === 'rejected' ? String(attempt.reason) : ''));
    expect(reasons.filter((reason) => reason.includes('TOO_OFTEN')).length).toBeGreaterThan(10);
    expect((await enrolled()).agentId).toBeGreaterThan(0);
  });

  it('sends logs and facts at a limited rate', async () => {
    const [logging, changing] = [await enrolled(), await enrolled()];
    for (let i = 0; i < 1500; i += 1) logging.send({ type: 'logs', lines: [] });
    for (let i = 0; i < 300; i += 1) changing.send({ type: 'facts', facts: testFacts() });
    expect(await logging.closed).toEqual({ code: 1008, reason: 'too many messages of type logs' });
    expect(await changing.closed).toEqual({ code: 1008, reason: 'too many messages of type facts' });
  });

  it('has only its valid records kept, and the run its results', async () => {
    const agent = await enrolled();
    const { runId, t0 } = await storeRun(controller.store, { agents: { [agent.agentId]: [jobOf()] } });
    const good = {
      ...{ side: 'control', reason: 'path', service: 'http', target: 'a:1', ip: '', isGood: true, detail: '' },
      ...{ startedMs: 1, endedMs: 2 },
    };
    const records = [{ side: 'control' }, { ...good, startedMs: 'x' }, good, { side: 'nonsense' }, {}];
    const summary = { seq: 1, at: t0 + 1000, spanMs: 1000, phase: 'steady', series: [], records };
    agent.send({ type: 'summaries', runId, epoch: 0, order: 0, summaries: [summary] });
    const kept = async () => (await runRecordsOf(controller.store.read, runId)).flatMap((row) => row.records);
    await expect.poll(kept).toEqual([good]);
  });

  it('that has not proven who it is may send 4 KiB, and gets the reason', { timeout: 60_000 }, async () => {
    const socket = new WebSocket(`${controller.url.replace('http', 'ws')}/agent`);
    const refused = new Promise<unknown>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString());
        if (message.type === 'challenge') socket.send('x'.repeat(5000));
        else resolve(message);
      });
    });
    expect(await refused).toMatchObject({ type: 'refused', code: 'TOO_LONG' });
  });

  it('is one of at most 256 at an address that have not proven who they are', { timeout: 120_000 }, async () => {
    const url = `${controller.url.replace('http', 'ws')}/agent`;
    const opened = (socket: WebSocket) =>
      new Promise<number>((resolve) => {
        socket.once('open', () => resolve(101));
        socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
        socket.on('error', () => {});
      });
    const sockets = Array.from({ length: 300 }, () => new WebSocket(url));
    const statuses = await Promise.all(sockets.map(opened));
    expect(statuses.filter((status) => status === 101)).toHaveLength(256);
    expect(statuses.filter((status) => status === 503)).toHaveLength(44);
    for (const socket of sockets) socket.terminate();
    // Places are free again once they are gone.
    await expect.poll(async () => (await enrolled()).agentId).toBeGreaterThan(0);
  });
});
