import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Bench } from '../testing/agent-process.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';

type Change = (data: Buffer, isBinary: boolean) => readonly (Buffer | string)[];
const relay: Change = (data, isBinary) => [isBinary ? data : data.toString()];

/** Sits between agent and controller, relays everything and changes what the controller says. */
class Middle {
  readonly #server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  readonly agents: WebSocket[] = [];
  connections = 0;
  change: Change = relay;

  constructor(url: string) {
    this.#server.on('connection', (agent) => {
      this.connections += 1;
      this.agents.push(agent);
      const controller = new WebSocket(`${url.replace('http', 'ws')}/agent`);
      const waiting: (() => void)[] = [];
      const whenOpen = (work: () => void) =>
        void (controller.readyState === WebSocket.OPEN ? work() : waiting.push(work));
      controller.on('open', () => waiting.splice(0).forEach((work) => void work()));
      agent.on('message', (data: Buffer, isBinary) => whenOpen(() => controller.send(data, { binary: isBinary })));
      controller.on('message', (data: Buffer, isBinary) => {
        for (const one of this.change(data, isBinary)) agent.send(one);
      });
      for (const [one, other] of [[agent, controller] as const, [controller, agent] as const]) {
        one.on('close', () => other.terminate()).on('error', () => {});
      }
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const agent of this.agents) agent.terminate();
    this.#server.close();
  }
}

const bench = new Bench();
let server: ProtocolServer;
let middle: Middle;
beforeEach(async () => {
  server = await ProtocolServer.start();
  middle = new Middle(server.url);
});
afterEach(async () => {
  await bench.close();
  middle.close();
  await server.vanish();
});

const joinThrough = async () => {
  const agent = bench.run(await bench.folder(), ['--controller', middle.url, '--token', server.createToken()]);
  await server.until({ type: 'heartbeat' });
  return agent;
};
const restart = JSON.stringify({ type: 'question', id: 1, question: { kind: 'restart' } });

describe('a program between agent and controller', () => {
  it('can relay, but neither read nor insert, change or repeat messages', async () => {
    const seen: string[] = [];
    middle.change = (data, isBinary) => {
      seen.push(data.toString());
      return relay(data, isBinary);
    };
    const agent = await joinThrough();
    expect(seen.filter((text) => text.includes('"welcome"') || text.includes('"beat"'))).toEqual([]);
    const attacks: Change[] = [
      (data) => [data, restart],
      (data) => [data, Buffer.from(restart)],
      (data) => [data, data],
      (data) => [Buffer.concat([data.subarray(0, -1), Buffer.of((data.at(-1) as number) ^ 1)])],
    ];
    for (const attack of attacks) {
      const { connections } = middle;
      middle.change = (data, isBinary) => (isBinary ? attack(data, isBinary) : relay(data, isBinary));
      await expect.poll(() => middle.connections).toBeGreaterThan(connections);
    }
    middle.change = relay;
    await expect.poll(() => agent.output).toContain('changed, repeated or left out');
    expect(agent.output).toContain('not sealed as it should be');
    expect(server.all('answer', server.heard[0]?.uuid ?? '')).toEqual([]);
    expect(agent.output).not.toContain('ending');
  });

  it('with a key of its own learns nothing from the agent and cannot end it', async () => {
    const impostor = await ProtocolServer.start();
    try {
      const args = ['--controller', impostor.url, '--token', server.createToken()];
      const agent = bench.run(await bench.folder(), args);
      await expect.poll(() => agent.output).toContain(`but this agent trusts ${server.key}`);
      expect(new Set(impostor.heard.map(({ message }) => message.type))).toEqual(new Set(['hail']));
      const refused = JSON.stringify({ type: 'refused', code: 'BLOCKED', reason: 'forged', retry: false });
      middle.change = () => [refused];
      const other = bench.run(await bench.folder(), ['--controller', middle.url, '--token', server.createToken()]);
      await expect.poll(() => other.output.split('forged').length).toBeGreaterThan(2);
    } finally {
      await bench.close();
      await impostor.vanish();
    }
  });
});

describe('an agent enrolled before controllers had keys', () => {
  it('pins the key at the first contact and says so', async () => {
    const { agent } = await bench.join(server);
    await agent.stop();
    const file = join(agent.dataDir, 'identity.json');
    const { controllerKey, ...before } = JSON.parse(await readFile(file, 'utf8'));
    expect(controllerKey).toBe(server.key);
    await writeFile(file, JSON.stringify(before));
    const second = await bench.join(server, agent.dataDir);
    expect(second.agent.output).toContain(`was enrolled without a key of its controller and trusts ${server.key}`);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ ...before, controllerKey });
  });
});
