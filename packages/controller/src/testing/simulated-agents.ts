/** Many agents in one process: each with its own key, WebSocket and heartbeats. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentHealth,
  Histogram,
  type RunCommand,
  type RunReport,
  type ToAgent,
  type ToController,
} from '@rushhour/protocol';
import { WebSocket } from 'ws';
import { ScriptedAgent } from '../runs/testing/scripted-agent.ts';
import { createTestChannel, createTestIdentity, greetingOf, testFacts } from './agent.ts';

/** Commands of the bench to a group of agents. */
export type Command =
  | { kind: 'join'; url: string; tokens: string[]; count: number; name: string }
  | { kind: 'measure' }
  | { kind: 'state' };

/** Connected agents, and since `measure` what they saw. */
export interface GroupState {
  inside: number;
  drops: number;
  /** Of heartbeats. */
  roundTripsMs: number[];
  /** How long after the common start of a run each agent started. */
  startSkewsMs: number[];
  /** From sending the measurements of a second to their acknowledgement. */
  acknowledgedMs: number[];
  /** Seconds that were sent and not acknowledged yet. */
  unacknowledged: number;
}

const concurrentJoins = 20;
const firstDelayMs = 250;
const longestDelayMs = 5000;
const secondMs = 1000;
const measured = () => ({ drops: 0, roundTripsMs: [], startSkewsMs: [], acknowledgedMs: [] });
const state: GroupState = { inside: 0, unacknowledged: 0, ...measured() };

/** Ten counters and a histogram, about as many as an HTTP client has. */
const seriesOfSecond = () => {
  const latency = new Histogram();
  for (let i = 0; i < 50; i += 1) latency.record(1000 + i * 37);
  const names = ['requests', 'responses', 'status.2xx', 'bytesSent', 'bytesReceived', 'connections', 'handshakes'];
  const counters = Object.fromEntries(names.map((name, i) => [`http.${name}`, 50 + i]));
  return [{ target: '', counters, gauges: { 'http.open': 5 }, histograms: { 'http.latency': latency.toBase64() } }];
};
const series = seriesOfSecond();

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
  readonly #runs = new ScriptedAgent(0, secondMs, { series });
  /** By run, job and number: when the measurements of a second were sent. */
  readonly #sentAt = new Map<string, number>();
  /** Numbers up to this one are acknowledged, by run and job. */
  readonly #acknowledged = new Map<string, number>();
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
      this.#obey(message);
      if (message.type === 'refused') process.stderr.write(`${this.#name} refused: ${message.reason}\n`);
      if (message.type !== 'welcome') return;
      this.#isEnrolled = true;
      this.#attempts = 0;
      state.inside += 1;
      this.#runs.report = (report) => this.#report(channel.send, report);
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

  #obey(message: ToAgent) {
    if (message.type === 'acknowledge') this.#note(message);
    else if ('runId' in message) this.#runs.obey(message as RunCommand);
  }

  #report(send: (message: object) => void, report: RunReport) {
    const now = performance.now();
    if (report.type === 'started') state.startSkewsMs.push(Date.now() - report.at);
    if (report.type === 'summaries') {
      for (const { seq } of report.summaries) this.#sentAt.set(`${report.runId} ${report.order} ${seq}`, now);
      state.unacknowledged += report.summaries.length;
    }
    send(report);
  }

  #note({ runId, order, seq }: Extract<RunCommand, { type: 'acknowledge' }>) {
    const job = `${runId} ${order}`;
    for (let one = (this.#acknowledged.get(job) ?? 0) + 1; one <= seq; one += 1) {
      const sentAt = this.#sentAt.get(`${job} ${one}`);
      this.#sentAt.delete(`${job} ${one}`);
      this.#acknowledged.set(job, one);
      if (sentAt === undefined) continue;
      state.acknowledgedMs.push(performance.now() - sentAt);
      state.unacknowledged -= 1;
    }
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
  if (command.kind === 'measure') Object.assign(state, measured());
  process.send?.(state);
});
process.once('disconnect', () => process.exit());
