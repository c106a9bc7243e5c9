import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startController } from '../controller.ts';
import { agents } from '../store/agents/agents.ts';
import { verifyAudit } from '../store/engine/audit.ts';
import { connectTestAgent, enrolTestAgent, type TestAgent } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';
import { endRun, insertActiveRun } from './testing/active-run.ts';

let controller: TestController;
let administrator: SignedIn;
const open: TestAgent[] = [];
const heard: string[] = [];
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  await administrator.client.settings.update({
    body: { agents: { heartbeatSec: 1, suspectAfterSec: 2, lostAfterSec: 5 } },
  });
  const note = (what: string) => (agentId: number, more?: unknown) =>
    void heard.push(`${what} ${agentId}${typeof more === 'string' ? `: ${more}` : ''}`);
  controller.agents.gateway.subscribe({
    connected: note('connected'),
    suspect: note('suspect'),
    back: note('back'),
    lost: note('lost'),
  });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((agent) => agent.close()));
  heard.length = 0;
});
afterAll(() => controller.close());

const enrolled = async (options: object = {}) => {
  const agent = await enrolTestAgent(administrator.client, { url: controller.url, ...options });
  open.push(agent);
  return agent;
};
const statusOf = async (id: number) => (await administrator.client.agents.get({ params: { id } })).data.status;
/** The statuses that are said of an agent from now on. */
const statusesOf = (agentId: number) => {
  const statuses: number[] = [];
  controller.bus.subscribe('agent.status', ({ id, status }) => {
    if (id === agentId) statuses.push(status);
  });
  return statuses;
};

describe('an agent', () => {
  it('that falls silent is suspect, then lost', { retry: 2 }, async () => {
    const agent = await enrolled();
    const { agentId: id } = agent;
    const statuses = statusesOf(id);
    agent.stopBeating();
    const start = performance.now();
    await expect.poll(() => statuses, { interval: 20 }).toEqual([3]);
    const suspectMs = performance.now() - start;
    expect(await statusOf(id)).toBe(3);
    expect(heard).toEqual([`connected ${id}`, `suspect ${id}`]);
    expect(controller.agents.gateway.isOnline(id)).toBe(true);
    await expect.poll(() => statuses, { interval: 20 }).toEqual([3, 4]);
    const lostMs = performance.now() - start;
    expect(heard.at(-1)).toBe(`lost ${id}: silent for 5 seconds`);
    expect(await statusOf(id)).toBe(4);
    expect(suspectMs).toBeGreaterThan(900);
    expect(suspectMs).toBeLessThan(3500);
    expect(lostMs).toBeGreaterThan(3900);
    expect(lostMs).toBeLessThan(6500);
    await agent.closed;
  });

  it('that is heard again in time is as it was', { retry: 2 }, async () => {
    const agent = await enrolled();
    const { agentId: id } = agent;
    const statuses = statusesOf(id);
    agent.stopBeating();
    await expect.poll(() => statuses).toEqual([3]);
    agent.beat();
    await expect.poll(() => statuses).toEqual([3, 1]);
    expect(heard).toEqual([`connected ${id}`, `suspect ${id}`, `back ${id}`]);
  });

  it('whose connection breaks has time to come back, and nothing is said', { retry: 2 }, async () => {
    const agent = await enrolled();
    const { agentId: id, identity, bootId } = agent;
    const statuses = statusesOf(id);
    await agent.close('broken');
    await sleep(500);
    expect(controller.agents.gateway.isOnline(id)).toBe(false);
    expect(await statusOf(id)).toBe(1);
    open.push(await connectTestAgent({ url: controller.url, identity, bootId }));
    expect(heard).toEqual([`connected ${id}`, `connected ${id}`]);
    expect(statuses).toEqual([]);
  });

  it('whose connection stays broken is lost like a silent one', async () => {
    const agent = await enrolled();
    const statuses = statusesOf(agent.agentId);
    await agent.close('broken');
    await expect.poll(() => statuses).toEqual([3, 4]);
  });

  it('that announces its end is offline at once', async () => {
    const agent = await enrolled();
    await agent.close('stopped');
    await expect.poll(() => heard.at(-1)).toBe(`lost ${agent.agentId}: the agent was stopped`);
    await expect.poll(() => statusOf(agent.agentId)).toBe(4);
  });

  it('is busy while a run uses it, and names its tasks', async () => {
    const agent = await enrolled();
    const { agentId: id } = agent;
    const { taskID, runID } = await insertActiveRun(controller.store, [id]);
    controller.bus.publish('run.changed', { runId: runID });
    await expect.poll(() => statusOf(id)).toBe(2);
    const { data } = await administrator.client.agents.get({ params: { id } });
    expect(data.activeTaskIDs).toEqual([taskID]);
    await expect(administrator.client.agents.removeMany({ body: { array: [id] } })).rejects.toEqual(
      refused(409, 'BUSY'),
    );
    await endRun(controller.store, runID);
    await expect.poll(() => statusOf(id)).toBe(1);
  });

  it('that was heard has a time of it at once, and on disk within seconds without an audit entry', async () => {
    const agent = await enrolled();
    const { agentId: id } = agent;
    const shown = async () => (await administrator.client.agents.get({ params: { id } })).data;
    const stored = async () => (await agents.find(controller.store.read, id)) as NonNullable<typeof before>;
    const before = await agents.find(controller.store.read, id);
    const { entries } = await verifyAudit(controller.store.read, controller.store.secrets);
    await expect.poll(shown).toMatchObject({ clockOffsetMs: 0.5, roundTripMs: 1.5 });
    await expect.poll(stored, { interval: 500 }).toMatchObject({ clockOffsetMs: 0.5 });
    const { updatedAt, lastSeenAt } = await stored();
    expect(updatedAt).toBe(before?.updatedAt);
    expect(Date.parse(lastSeenAt ?? '')).toBeGreaterThan(Date.parse(before?.lastSeenAt ?? ''));
    expect(await verifyAudit(controller.store.read, controller.store.secrets)).toEqual({ entries });
  });
});

describe('after a restart of the controller', () => {
  it('everybody is offline until they return', async () => {
    const first = await startTestController();
    const { client } = await first.signIn();
    const agent = await enrolTestAgent(client, { url: first.url });
    const gone = await enrolTestAgent(client, { url: first.url });
    await first.stop();
    await Promise.all([agent.closed, gone.closed]);
    const second = await startController({ ...first.config, port: Number(new URL(first.url).port) });
    const visitor = await first.signIn();
    const status = async (id: number) => (await visitor.client.agents.get({ params: { id } })).data.status;
    expect([await status(agent.agentId), await status(gone.agentId)]).toEqual([4, 4]);
    const { identity, bootId } = agent;
    const back = await connectTestAgent({ url: first.url, identity, bootId });
    expect(back.welcome.controllerId).toBe(agent.welcome.controllerId);
    expect([await status(agent.agentId), await status(gone.agentId)]).toEqual([1, 4]);
    await back.close();
    await second.close();
    rmSync(first.config.dataDir, { recursive: true, force: true });
  });
});
