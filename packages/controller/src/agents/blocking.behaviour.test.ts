import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../store/engine/statement.ts';
import { connectTestAgent, enrolTestAgent, type TestAgent } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';
import { useOpenAgents } from '../testing/use-open-agents.ts';

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
const again = async ({ identity }: TestAgent) => {
  const agent = await connectTestAgent({ url: controller.url, identity });
  open.push(agent);
  return agent;
};
const agentOf = async (id: number) => (await administrator.client.agents.get({ params: { id } })).data;
const refusal = (code: string) => expect.objectContaining({ refused: expect.objectContaining({ code }) });

describe('a blocked agent', () => {
  it('gets the reason, counts as lost, and is admitted again once it is unblocked', async () => {
    const { agents } = administrator.client;
    const agent = await enrolled();
    const { agentId: id } = agent;
    const lost: unknown[] = [];
    const end = controller.agents.gateway.subscribe({ lost: (...what) => lost.push(what) });
    expect(await agents.block({ body: { array: [id, 9999] } })).toEqual({
      data: [
        { id, ok: true },
        { id: 9999, ok: false, code: 'NOT_FOUND', error: 'agent 9999 not found' },
      ],
    });
    expect(await agent.next('refused')).toMatchObject({ code: 'BLOCKED', retry: true });
    expect(await agent.closed).toMatchObject({ code: 4403 });
    expect(lost).toEqual([[id, 'this agent was blocked']]);
    expect(await agentOf(id)).toMatchObject({ status: 5, isBlocked: true });
    await expect(again(agent)).rejects.toEqual(refusal('BLOCKED'));
    expect(await agentOf(id)).toMatchObject({ status: 5 });
    await agents.unblock({ body: { array: [id] } });
    expect(await agentOf(id)).toMatchObject({ status: 4, isBlocked: false });
    await again(agent);
    expect(await agentOf(id)).toMatchObject({ status: 1 });
    end();
  });

  it('does not slip in while it is being blocked', async () => {
    const { agents } = administrator.client;
    for (let round = 0; round < 5; round += 1) {
      const agent = await enrolled();
      const { agentId: id } = agent;
      await agent.close('broken');
      await Promise.allSettled([again(agent), agents.block({ body: { array: [id] } })]);
      await expect.poll(() => controller.agents.gateway.isOnline(id)).toBe(false);
      expect(await agentOf(id)).toMatchObject({ status: 5, isBlocked: true });
    }
  });
});

describe('a removed agent', () => {
  it('is gone, its credential is worth nothing, and it may enrol anew', async () => {
    const { agents } = administrator.client;
    const agent = await enrolled();
    const { agentId: id } = agent;
    expect(await agents.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    expect(await agent.next('refused')).toMatchObject({ code: 'UNKNOWN_AGENT', retry: false });
    await expect(agentOf(id)).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(again(agent)).rejects.toEqual(refusal('UNKNOWN_AGENT'));
    const fresh = await enrolTestAgent(administrator.client, { url: controller.url, identity: agent.identity });
    open.push(fresh);
    expect(fresh.agentId).not.toBe(id);
  });

  it('is removed with the others of the request or not at all', async () => {
    const agent = await enrolled();
    const array = [agent.agentId, 9999];
    await expect(administrator.client.agents.removeMany({ body: { array } })).rejects.toMatchObject({
      status: 404,
      data: { missing: [9999] },
    });
    expect(await agentOf(agent.agentId)).toMatchObject({ status: 1 });
  });
});

describe.runIf(process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres')('with two controllers on one database', () => {
  let other: TestController;
  beforeAll(async () => {
    const { databaseUrl } = controller.config;
    const secretKey = Buffer.from(readFileSync(join(controller.config.dataDir, 'secret.key'), 'utf8'), 'base64');
    other = await startTestController({ ...(databaseUrl && { databaseUrl }), secretKey });
  });
  afterAll(() => other.close());
  const onOther = async () => {
    const agent = await enrolTestAgent(administrator.client, { url: other.url });
    open.push(agent);
    return agent;
  };
  const promptMs = 5000;

  it('blocking, unblocking and removing through one act on the agents of the other', async () => {
    const { agents } = administrator.client;
    const agent = await onOther();
    const { agentId: id, identity } = agent;
    await agents.block({ body: { array: [id] } });
    expect(await agent.next('refused', { timeoutMs: promptMs })).toMatchObject({ code: 'BLOCKED' });
    await agent.closed;
    expect(other.agents.gateway.isOnline(id)).toBe(false);
    await agents.unblock({ body: { array: [id] } });
    const back = () => connectTestAgent({ url: other.url, identity });
    await expect
      .poll(() =>
        back().then(
          (next) => open.push(next) > 0,
          () => false,
        ),
      )
      .toBe(true);
    await agents.removeMany({ body: { array: [id] } });
    const next = open.at(-1) as TestAgent;
    expect(await next.next('refused', { timeoutMs: promptMs })).toMatchObject({ code: 'UNKNOWN_AGENT' });
    await expect(back()).rejects.toEqual(refusal('UNKNOWN_AGENT'));
  });

  it('what happened while the events of the other were missed is caught up with', async () => {
    const agent = await onOther();
    const { agentId: id } = agent;
    await controller.store.database.transaction((tx) => block.all(tx, { id }));
    other.bus.publish('bus.resumed', undefined);
    expect(await agent.next('refused', { timeoutMs: promptMs })).toMatchObject({ code: 'BLOCKED' });
  });
});

const block = statement((db, p: { id: number }) =>
  db.updateTable('agents').set({ isBlocked: 1 }).where('id', '=', p.id),
);
