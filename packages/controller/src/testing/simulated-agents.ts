/** Many agents in one process: each with its own key, WebSocket and heartbeats. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentHealth, ToController } from '@rushhour/protocol';
import { WebSocket } from 'ws';
import { createTestChannel, createTestIdentity, greetingOf, testFacts } from './agent.ts';

/** Commands of the bench to a group of agents. */
export type Command =
  | { kind: 'join'; url: string; tokens: string[]; count: number; name: string }
  | { kind: 'measure' }
  | { kind: 'state' };

/** Connected agents, and since `measure` the round trips of heartbeats and the lost connections. */
export interface GroupState {
  inside: number;
  drops: number;
  roundTripsMs: number[];
}

const concurrentJoins = 20;
const firstDelayMs = 250;
const longestDelayMs = 5000;
const state: GroupState = { inside: 0, drops: 0, roundTripsMs: [] };

const health: AgentHealth = {
  ...{ cpuPct: [12.5, 30.25, 7, 3.5], memoryUsedMb: 1800, load1: 0.42, diskFreeMb: 51_200 },
  interfaces: ['eth0', 'eth1'].map((name) => ({
    ...{ name, rxBps: 1e6, txBps: 2e6, rxPps: 1000, txPps: 2000, rxDrops: 0, txDrops: 0 },
  })),
};

class SimulatedAgent {
  readonly #identity = createTestIdentity();
  readonly #bootId = randomUUID();
  readonly #url: string;
  readonly #name: string;
  readonly #token: string;
  #isEnrolled = false;
  #attempts = 0;

  constructor(url: string, name: string, token: string) {
    this.#url = url;
    this.#name = name;
    this.#token = token;
  }

  /** Resolves at the first welcome; reconnects whenever the connection ends. */
  join(): Promise<void> {
    return new Promise((resolve) => this.#connect(resolve));
  }

  #connect(onWelcome: () => void) {
    const socket = new WebSocket(`${this.#url.replace(/^http/, 'ws')}/agent`, { perMessageDeflate: false });
    const token = this.#isEnrolled ? {} : { token: this.#token };
    const channel = createTestChannel(socket, { identity: this.#identity, ...token });
    let beating: NodeJS.Timeout | undefined;
    socket.on('message', (data: Buffer) => {
      const message = channel.take(data);
      if (!('type' in message)) return;
      if (message.type === 'beat') state.roundTripsMs.push(performance.now() - message.sentAt);
      if (message.type === 'proven') channel.send(this.#greeting());
      if (message.type === 'refused') process.stderr.write(`${this.#name} refused: ${message.reason}\n`);
      if (message.type !== 'welcome') return;
      this.#isEnrolled = true;
      this.#attempts = 0;
      state.inside += 1;
      beating = this.#beat(channel.send, message.limits.heartbeatMs);
      onWelcome();
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      if (beating !== undefined) {
        clearInterval(beating);
        state.inside -= 1;
        state.drops += 1;
      }
      setTimeout(() => this.#connect(onWelcome), this.#delayMs());
    });
  }

  #greeting() {
    const facts = testFacts({ hostname: this.#name });
    const who = { bootId: this.#bootId, name: this.#name, facts };
    return greetingOf(this.#isEnrolled ? who : { ...who, token: this.#token });
  }

  /** Every heartbeat carries health, as those of real agents do at this rate. */
  #beat(send: (message: object) => void, everyMs: number) {
    const beat = () => {
      const heartbeat: ToController = {
        ...{ type: 'heartbeat', sentAt: performance.now(), clockOffsetMs: 0.1, roundTripMs: 0.2, health },
      };
      send(heartbeat);
    };
    beat();
    return setInterval(beat, everyMs);
  }

  #delayMs() {
    const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#attempts);
    this.#attempts += 1;
    return firstDelayMs / 2 + Math.random() * (longest - firstDelayMs / 2);
  }
}

const join = async ({ url, tokens, count, name }: Extract<Command, { kind: 'join' }>) => {
  const usesOfToken = Math.ceil(count / tokens.length);
  const agents = Array.from(
    { length: count },
    (_, i) => new SimulatedAgent(url, `${name}-${i}`, tokens[Math.floor(i / usesOfToken)] ?? ''),
  );
  for (let i = 0; i < count; i += concurrentJoins) {
    await Promise.all(agents.slice(i, i + concurrentJoins).map((agent) => agent.join()));
    await sleep(1);
  }
};

process.on('message', async (command: Command) => {
  if (command.kind === 'join') await join(command);
  if (command.kind === 'measure') Object.assign(state, { drops: 0, roundTripsMs: [] });
  process.send?.(state);
});
process.once('disconnect', () => process.exit());
