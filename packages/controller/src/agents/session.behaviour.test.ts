import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { maxMessageBytes } from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  connectTestAgent,
  enrolTestAgent,
  type TestAgent,
  type TestAgentOptions,
  testFacts,
} from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { useOpenAgents } from '../testing/use-open-agents.ts';
import { AgentRefused, AgentUnreachable } from './gateway/gateway.ts';

let controller: TestController;
let administrator: SignedIn;
const open = useOpenAgents();
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const enrolled = async (options: Omit<TestAgentOptions, 'url'> = {}) => {
  const agent = await enrolTestAgent(administrator.client, { url: controller.url, ...options });
  open.push(agent);
  return agent;
};
const again = async (agent: TestAgent, options: Omit<TestAgentOptions, 'url'> = {}) => {
  const next = await connectTestAgent({ url: controller.url, identity: agent.identity, ...options });
  open.push(next);
  return next;
};
const refusal = (code: string) => expect.objectContaining({ refused: expect.objectContaining({ code }) });
const isWell = async () => (await administrator.client.meta.health({ query: { deep: true } })).data.status === 'ok';

describe('a bad message ends the session with a reason and harms nobody else:', () => {
  it.each<[string, (agent: TestAgent) => void, string]>([
    ['no JSON', (agent) => agent.send('{"type":'), 'not JSON'],
    ['JSON that is no object', (agent) => agent.send('null'), 'no message of type undefined is known'],
    ['an unknown type', (agent) => agent.send('{"type":"takeOver"}'), 'no message of type takeOver is known'],
    ['a member that is missing', (agent) => agent.send('{"type":"facts"}'), 'facts/facts is required'],
    [
      'a member of another type',
      (agent) => agent.send('{"type":"heartbeat","sentAt":"now","clockOffsetMs":0,"roundTripMs":0}'),
      'heartbeat/sentAt must be number',
    ],
    ['bytes', (agent) => agent.sendFile(Buffer.alloc(40)), 'agents send no files'],
    ['a poisoned name', (agent) => agent.send('{"type":"__proto__"}'), 'no message of type __proto__ is known'],
    [
      'a name of every object',
      (agent) => agent.send('{"type":"constructor"}'),
      'no message of type constructor is known',
    ],
  ])('%s', async (_, speak, reason) => {
    const neighbour = await enrolled();
    const agent = await enrolled();
    speak(agent);
    expect(await agent.closed).toEqual({ code: 1008, reason });
    expect(controller.agents.gateway.isOnline(neighbour.agentId)).toBe(true);
    expect(await isWell()).toBe(true);
  });

  it('a frame beyond the limit', async () => {
    const agent = await enrolled();
    agent.send('x'.repeat(maxMessageBytes + 1));
    expect((await agent.closed).code).toBe(1009);
    expect(await isWell()).toBe(true);
  });

  it('a message that is not sealed, is repeated or was changed', async () => {
    const plain = await enrolled();
    plain.socket.send('{"type":"heartbeat","sentAt":1,"clockOffsetMs":0,"roundTripMs":0}');
    expect(await plain.closed).toEqual({ code: 1008, reason: 'the message is not sealed' });
    for (const change of [() => {}, (sealed: Buffer) => void sealed.writeUInt8(sealed.readUInt8(5) ^ 1, 5)]) {
      const agent = await enrolled({ heartbeat: false });
      const frames: Buffer[] = [];
      const send = agent.socket.send.bind(agent.socket) as (data: Buffer) => void;
      agent.socket.send = (data: unknown) => void frames.push(data as Buffer);
      agent.beat();
      const [sealed] = frames as [Buffer];
      change(sealed);
      send(sealed);
      send(sealed);
      expect((await agent.closed).reason).toContain('changed, repeated or left out');
    }
  });

  it('a second greeting', async () => {
    const agent = await enrolled({ heartbeat: false });
    agent.send({ type: 'hello', bootId: 'b', facts: testFacts(), runs: [] });
    expect(await agent.closed).toEqual({ code: 1008, reason: 'a session has one greeting' });
  });

  it('anything before the greeting, and anything before the welcome', async () => {
    const early = async (text: string) => {
      const socket = new WebSocket(`${controller.url.replace('http', 'ws')}/agent`);
      socket.on('open', () => socket.send(text));
      return new Promise<string>((resolve) => socket.once('close', (_code, reason) => resolve(reason.toString())));
    };
    const heartbeat = JSON.stringify({ type: 'heartbeat', sentAt: 1, clockOffsetMs: 0, roundTripMs: 0 });
    expect(await early(heartbeat)).toBe('the first message must be a hail');
    expect(await early('nonsense')).toBe('not JSON');
    expect(await early('"deep"'.padStart(1000, '['))).toBe('not JSON');
  });

  it('a broken frame', async () => {
    const agent = await enrolled();
    const raw = (agent.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket;
    raw.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3]));
    expect((await agent.closed).code).not.toBe(1000);
    expect(await isWell()).toBe(true);
  });
});

describe('the agent channel', () => {
  const upgrade = (path: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const asked = request(controller.url + path, {
        headers: {
          ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
          ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers },
        },
      });
      asked.once('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      asked.once('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode ?? 0);
      });
      asked.once('error', reject);
      asked.end();
    });

  it('is not for browsers', async () => {
    expect(await upgrade('/agent', { origin: controller.url })).toBe(403);
    expect(await upgrade('/agent', {})).toBe(101);
  });

  it('is the only thing that upgrades: elsewhere the request is ignored', async () => {
    expect(await upgrade('/v1/version', {})).toBe(200);
    expect(await upgrade('/v1/version', { upgrade: 'h2c' })).toBe(200);
    expect((await fetch(`${controller.url}/agent`)).status).toBe(404);
  });

  it('closes on those who do not answer the challenge', async () => {
    const socket = new WebSocket(`${controller.url.replace('http', 'ws')}/agent`);
    const code = await new Promise<number>((resolve) => socket.once('close', resolve));
    expect(code).toBe(1008);
  });
});

describe('a connection', () => {
  it('can be asked and answers', async () => {
    const { gateway } = controller.agents;
    const agent = await enrolled();
    agent.onQuestion(({ kind }) => {
      if (kind === 'reset') throw new Error('not now');
      return { kind };
    });
    expect(await gateway.ask(agent.agentId, { kind: 'ping' })).toEqual({ kind: 'ping' });
    await expect(gateway.ask(agent.agentId, { kind: 'reset' })).rejects.toEqual(new AgentRefused('not now'));
    agent.onQuestion(() => sleep(2000));
    await expect(gateway.ask(agent.agentId, { kind: 'ping' }, 50)).rejects.toThrow(AgentUnreachable);
    const hanging = gateway.ask(agent.agentId, { kind: 'ping' });
    hanging.catch(() => {});
    await agent.close();
    await expect(hanging).rejects.toThrow(AgentUnreachable);
    await expect(gateway.ask(agent.agentId, { kind: 'ping' })).rejects.toThrow(AgentUnreachable);
    expect(gateway.send(agent.agentId, { type: 'beat', sentAt: 0, at: 0 })).toBe(false);
  });

  it('is replaced by a new one of the same process, whose runs are reported', async () => {
    const arrivals: unknown[] = [];
    const lost: number[] = [];
    const end = controller.agents.gateway.subscribe({
      connected: (agentId, arrival) => arrivals.push({ agentId, ...arrival }),
      lost: (agentId) => lost.push(agentId),
    });
    // The network has lost the first connection; neither side has noticed yet.
    const agent = await enrolled({ socketOptions: { autoPong: false } });
    const { agentId, bootId } = agent;
    const runs = [{ runId: 7, epoch: 2, state: 'running' as const, orders: [], endedByDeadMan: false }];
    const next = await again(agent, { bootId, runs });
    expect((await agent.closed).reason).toBe('connected anew');
    expect(arrivals).toEqual([
      { agentId, bootId, runs: [] },
      { agentId, bootId, runs },
    ]);
    expect(next.agentId).toBe(agentId);
    expect(lost).toEqual([]);
    end();
  });

  it('passes reports on in their order', async () => {
    const heard: unknown[] = [];
    const agent = await enrolled();
    const end = controller.agents.gateway.subscribe({ report: (_, report) => heard.push(report) });
    const reports = Array.from({ length: 50 }, (_, i) => ({ type: 'prepared', runId: i + 1, epoch: 1 }));
    for (const report of reports) agent.send(report);
    await expect.poll(() => heard).toEqual(reports);
    end();
  });

  it('survives a listener that fails', async () => {
    const heard: number[] = [];
    const endings = [
      controller.agents.gateway.subscribe({
        report: () => {
          throw new Error('a bug');
        },
      }),
      controller.agents.gateway.subscribe({ report: (agentId) => heard.push(agentId) }),
    ];
    const agent = await enrolled();
    agent.send({ type: 'prepared', runId: 1, epoch: 1 });
    await expect.poll(() => heard).toEqual([agent.agentId]);
    for (const end of endings) end();
  });

  it('gets new limits as soon as settings change', async () => {
    const agent = await enrolled();
    const { limits } = agent.welcome;
    await administrator.client.settings.update({ body: { agents: { deadManSec: 77 } } });
    expect(await agent.next('limits')).toEqual({ type: 'limits', limits: { ...limits, deadManMs: 77_000 } });
    await administrator.client.settings.update({ body: { agents: { deadManSec: 60 } } });
  });

  it('says the time of the controller to every heartbeat', async () => {
    const agent = await enrolled({ heartbeat: false });
    agent.send({ type: 'heartbeat', sentAt: 12.5, clockOffsetMs: 1, roundTripMs: 1 });
    const beat = await agent.next('beat');
    expect(beat.sentAt).toBe(12.5);
    expect(Math.abs(beat.at - Date.now())).toBeLessThan(1000);
  });
});

describe('a second process with the same identity', () => {
  it('is refused while the first is connected, and users are notified', async () => {
    const agent = await enrolled({ name: 'original' });
    await expect(again(agent, { bootId: randomUUID() })).rejects.toEqual(refusal('CLONE'));
    await expect(again(agent, { bootId: randomUUID() })).rejects.toEqual(refusal('CLONE'));
    expect(controller.agents.gateway.isOnline(agent.agentId)).toBe(true);
    expect(agent.socket.readyState).toBe(WebSocket.OPEN);
    const { data } = await administrator.client.notifications.list({ query: {} });
    const alarms = data.filter(({ kind, entity }) => kind === 'agent.clone' && entity?.id === agent.agentId);
    expect(alarms).toMatchObject([{ severity: 'warning', message: expect.stringContaining('"original"') }]);
  });

  it('is refused even if it knows the boot id', async () => {
    const agent = await enrolled();
    await expect(again(agent, { bootId: agent.bootId })).rejects.toEqual(refusal('CLONE'));
    expect(agent.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('takes over from one that hangs', async () => {
    const agent = await enrolled({ socketOptions: { autoPong: false } });
    const next = await again(agent, { bootId: randomUUID() });
    expect(next.agentId).toBe(agent.agentId);
    expect((await agent.closed).reason).toBe('connected anew');
  });

  it('takes over from one whose connection is gone', async () => {
    const agent = await enrolled();
    await agent.close('broken');
    const next = await again(agent, { bootId: randomUUID() });
    expect(next.agentId).toBe(agent.agentId);
  });

  it('of several that come at once exactly one gets in', async () => {
    const agent = await enrolled();
    await agent.close('broken');
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => again(agent, { bootId: randomUUID() })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
