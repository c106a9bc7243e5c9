import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
const upload = async (bytes: Buffer) => {
  const body = { name: 'data.bin', category: 'other' as const, content: bytes.toString('base64') };
  const { data: id } = await administrator.client.files.create({ body });
  return { id, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
};
/** What came of a file, put together; pieces must follow each other without a gap. */
const received = (agent: TestAgent, sha256: string, offset = 0) => {
  const pieces = agent.pieces.filter((piece) => piece.sha256 === sha256);
  let at = offset;
  for (const piece of pieces) {
    expect(piece.offset).toBe(at);
    at += piece.bytes.length;
  }
  return Buffer.concat(pieces.map(({ bytes }) => bytes));
};
/** The agent is asked to fetch the file, as for a run. */
const offer = (agent: TestAgent, sha256: string) =>
  controller.agents.gateway.ask(agent.agentId, { kind: 'fetchFile', sha256, size: 1, verify: false });
/** Fetches the file it is asked to fetch, as an agent does. */
const fetchOnAsk = (agent: TestAgent) =>
  agent.onQuestion(async (question) => {
    if (question.kind !== 'fetchFile') return undefined;
    const { sha256, size } = question;
    agent.send({ type: 'needFile', sha256, offset: 0 });
    await expect.poll(() => received(agent, sha256).length).toBe(size);
    return { bytes: size };
  });
const statesOf = async (id: number) => (await administrator.client.files.syncState({ params: { id }, query: {} })).data;
const stateOn = async (id: number, agentID: number) =>
  (await statesOf(id)).find((state) => state.agentID === agentID)?.state;

describe('a file that agents need', () => {
  it('comes in pieces to several at once, from where each wants it', async () => {
    const { bytes, sha256 } = await upload(randomBytes(3_000_001));
    const agents = await Promise.all([enrolled(), enrolled(), enrolled()]);
    const offsets = [0, 1_234_567, 3_000_000];
    for (const agent of agents) await offer(agent, sha256);
    for (const [i, agent] of agents.entries()) agent.send({ type: 'needFile', sha256, offset: offsets[i] });
    for (const [i, agent] of agents.entries()) {
      const offset = offsets[i] ?? 0;
      await expect.poll(() => received(agent, sha256, offset).length).toBe(bytes.length - offset);
      expect(received(agent, sha256, offset).equals(bytes.subarray(offset))).toBe(true);
    }
  });

  it('goes on where it broke off', async () => {
    const { bytes, sha256 } = await upload(randomBytes(8_000_000));
    const agent = await enrolled();
    await offer(agent, sha256);
    agent.send({ type: 'needFile', sha256, offset: 0 });
    await expect.poll(() => agent.pieces.length, { interval: 1 }).toBeGreaterThan(0);
    await agent.close('broken');
    const first = received(agent, sha256);
    const { identity, bootId } = agent;
    const next = await connectTestAgent({ url: controller.url, identity, bootId });
    open.push(next);
    next.send({ type: 'needFile', sha256, offset: first.length });
    await expect.poll(() => received(next, sha256, first.length).length).toBe(bytes.length - first.length);
    expect(Buffer.concat([first, received(next, sha256, first.length)]).equals(bytes)).toBe(true);
  });

  it('that is not there is said not to be there', async () => {
    const agent = await enrolled();
    const sha256 = '0'.repeat(64);
    await offer(agent, sha256);
    agent.send({ type: 'needFile', sha256, offset: 0 });
    expect(await agent.next('noFile')).toMatchObject({ sha256, reason: 'there is no such content' });
    agent.send({ type: 'needFile', sha256: '../../etc/passwd', offset: 0 });
    expect((await agent.closed).reason).toContain('needFile/sha256');
    expect(agent.pieces).toEqual([]);
  });

  it('is not sent to an agent that was not told to fetch it', async () => {
    const { sha256 } = await upload(randomBytes(1000));
    const agent = await enrolled();
    agent.send({ type: 'needFile', sha256, offset: 0 });
    expect(await agent.next('noFile')).toMatchObject({ sha256, reason: 'it is not a file of your runs' });
    expect(agent.pieces).toEqual([]);
  });

  it('does not keep heartbeats waiting', async () => {
    const { sha256 } = await upload(randomBytes(9_000_000));
    const agent = await enrolled();
    await offer(agent, sha256);
    agent.send({ type: 'needFile', sha256, offset: 0 });
    const from = agent.messages.length;
    agent.beat();
    await agent.next('beat', { from });
    expect(received(agent, sha256).length).toBeLessThan(9_000_000);
  });
});

describe('pushing files to agents', () => {
  it('brings them, and tells which agent has which', async () => {
    const file = await upload(randomBytes(700_000));
    const [agent, other] = [await enrolled(), await enrolled()];
    fetchOnAsk(agent);
    const { data } = await administrator.client.files.sync({ body: { array: [file.id], agents: [agent.agentId] } });
    expect(data).toMatchObject({ pairs: 1, bytes: 700_000 });
    await expect.poll(() => stateOn(file.id, agent.agentId)).toBe('synced');
    expect(received(agent, file.sha256).equals(file.bytes)).toBe(true);
    expect(await stateOn(file.id, other.agentId)).toBe('absent');
    const one = await administrator.client.files.syncState({
      params: { id: file.id },
      query: { agentID: agent.agentId },
    });
    expect(one.data).toMatchObject([{ agentID: agent.agentId, bytes: 700_000, sha256: file.sha256, error: '' }]);
  });

  it('waits for agents that are away', async () => {
    const file = await upload(randomBytes(1000));
    const agent = await enrolled();
    await agent.close();
    await administrator.client.files.sync({ body: { array: [file.id], agents: [agent.agentId] } });
    expect(await stateOn(file.id, agent.agentId)).toBe('pending');
    const next = await connectTestAgent({ url: controller.url, identity: agent.identity });
    open.push(next);
    fetchOnAsk(next);
    await expect.poll(() => stateOn(file.id, agent.agentId)).toBe('synced');
  });

  it('says why an agent would not have it', async () => {
    const file = await upload(randomBytes(1001));
    const agent = await enrolled();
    agent.onQuestion(() => {
      throw new Error('the disk is full');
    });
    await administrator.client.files.sync({ body: { array: [file.id], agents: 'all' } });
    const failed = async () => (await statesOf(file.id)).find(({ agentID }) => agentID === agent.agentId);
    await expect.poll(failed).toMatchObject({ state: 'failed', error: 'the disk is full' });
    await expect(administrator.client.files.sync({ body: { array: [file.id], agents: [9999] } })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
  });
});
