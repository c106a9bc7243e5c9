import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { Client } from '@rushhour/client';
import {
  type AgentFacts,
  acceptIdentity,
  createEphemeral,
  type Greeting,
  type HeldRun,
  parseFileFrame,
  parseJoinToken,
  protocolVersion,
  type Question,
  type SecureChannel,
  signSession,
  type ToAgent,
  type ToController,
} from '@rushhour/protocol';
import { type ClientOptions, WebSocket } from 'ws';

type Welcome = Extract<ToAgent, { type: 'welcome' }>;
type Refused = Extract<ToAgent, { type: 'refused' }>;
export type FilePiece = ReturnType<typeof parseFileFrame>;

/** The identity of an agent, kept between connections. */
export interface TestIdentity {
  uuid: string;
  privateKey: KeyObject;
}

export const createTestIdentity = (): TestIdentity => ({
  uuid: randomUUID(),
  privateKey: generateKeyPairSync('ed25519').privateKey,
});

export const testFacts = (more: Partial<AgentFacts> = {}): AgentFacts => ({
  hostname: 'test-host',
  machineId: 'test-machine',
  version: '0.1.0',
  os: 'Linux',
  kernel: '6.12.0',
  arch: 'x64',
  cpuCores: 2,
  memoryMb: 2048,
  addresses: ['127.0.0.1'],
  interfaces: [
    {
      ...{ id: 1, name: 'lo', mac: '00:00:00:00:00:00', mtu: 65_536, speedMbps: null, link: 'up', driver: '' },
      ...{ ips: ['127.0.0.1/8'], role: 'test', usable: true, reason: '' },
    },
  ],
  engines: ['http', 'tcp', 'udp', 'dns', 'tls', 'stateless-server'].map((engine) => ({
    ...{ engine, available: true, way: 'node sockets', version: '1', missing: [], reason: '' },
  })),
  system: { caps: [], hugepages: 0, dpdk: false, rdmaDevices: [] },
  ...more,
});

export interface TestAgentOptions {
  /** Of the controller, `http://…`. */
  url: string;
  /** Enrols with it; without one the agent says hello. */
  token?: string;
  identity?: TestIdentity;
  name?: string;
  bootId?: string;
  facts?: AgentFacts;
  runs?: HeldRun[];
  /** Sends heartbeats at the interval the controller asks for, unless this is false. */
  heartbeat?: boolean;
  /** Change the messages of the handshake before they are sent. */
  hail?(hail: object): object;
  proof?(proof: object): object;
  greeting?(greeting: Greeting): unknown;
  /** Of the WebSocket, such as `autoPong: false` for an agent that hangs. */
  socketOptions?: ClientOptions;
}

/** The controller refused the agent. */
export class TestAgentRefused extends Error {
  readonly refused: Refused;
  constructor(refused: Refused) {
    super(`${refused.code}: ${refused.reason}`);
    this.refused = refused;
  }
}

/** The greeting: `enrol` with a token, else `hello`. */
export const greetingOf = (options: { bootId: string } & Omit<TestAgentOptions, 'url'>): Greeting => {
  const { token, bootId, name = 'test agent', facts = testFacts(), runs = [] } = options;
  return token === undefined ? { type: 'hello', bootId, facts, runs } : { type: 'enrol', bootId, facts, name };
};

interface Introduced extends Pick<TestAgentOptions, 'token' | 'hail' | 'proof'> {
  identity: TestIdentity;
}

/** The agent's side of the handshake and of the sealed messages after it. */
export const createTestChannel = (socket: WebSocket, options: Introduced) => {
  const own = createEphemeral();
  let nonce = '';
  let channel: SecureChannel | undefined;
  const send = (message: object | string) => {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    socket.send(channel === undefined ? text : channel.seal('json', Buffer.from(text)));
  };
  const prove = (identity: Extract<ToAgent, { type: 'identity' }>) => {
    const { token, identity: me } = options;
    const { secret, controllerKey = identity.key } = parseJoinToken(token ?? '');
    if (identity.key !== controllerKey) throw new Error('the controller is not the one of the token');
    const accepted = acceptIdentity({ protocol: protocolVersion, nonce, own, identity });
    channel = accepted.channel;
    const proof = {
      type: 'proof',
      uuid: me.uuid,
      publicKey: createPublicKey(me.privateKey).export({ type: 'spki', format: 'der' }).toString('base64'),
      signature: signSession(accepted.digest, me.privateKey),
      ...(token !== undefined && { token: secret }),
    };
    send(options.proof?.(proof) ?? proof);
  };
  return {
    send,
    /** Sends bytes as an agent must not. */
    sendFile: (bytes: Buffer) => socket.send((channel as SecureChannel).seal('file', bytes)),
    /** The content of a message; answers those of the handshake. */
    take: (data: Buffer): ToAgent | FilePiece => {
      const { kind, content } = channel?.open(data) ?? { kind: 'json', content: data };
      if (kind === 'file') return parseFileFrame(content);
      const message = JSON.parse(content.toString()) as ToAgent;
      if (message.type === 'challenge') {
        nonce = message.nonce;
        const hail = { type: 'hail', protocol: protocolVersion, ephemeral: own.publicKey };
        send(options.hail?.(hail) ?? hail);
      }
      if (message.type === 'identity') prove(message);
      return message;
    },
  };
};

/** Answers a request; a thrown error becomes a refusal. Without a result the reply is empty. */
export type Answerer = (question: Question) => unknown;

/** A real client of the agent channel that does nothing on its own but send heartbeats. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of actions for tests
export const connectTestAgent = async (options: TestAgentOptions) => {
  const identity = options.identity ?? createTestIdentity();
  const bootId = options.bootId ?? randomUUID();
  const socket = new WebSocket(`${options.url.replace(/^http/, 'ws')}/agent`, {
    perMessageDeflate: false,
    ...options.socketOptions,
  });
  const messages: ToAgent[] = [];
  const pieces: FilePiece[] = [];
  const waiting = new Set<() => void>();
  let answer: Answerer = () => undefined;
  let beating: NodeJS.Timeout | undefined;

  const channel = createTestChannel(socket, { ...options, identity });
  const send = (message: ToController | object | string) => channel.send(message);
  const beat = () =>
    send({ type: 'heartbeat', sentAt: Date.now(), clockOffsetMs: 0.5, roundTripMs: 1.5 } satisfies ToController);
  const reply = async ({ id, question }: Extract<ToAgent, { type: 'question' }>) => {
    try {
      const result = await answer(question);
      send({ type: 'answer', id, ok: true, ...(result !== undefined && { result }) });
    } catch (error) {
      send({ type: 'answer', id, ok: false, error: (error as Error).message });
    }
  };
  const take = (message: ToAgent) => {
    messages.push(message);
    if (message.type === 'proven') {
      const greeting = greetingOf({ ...options, bootId });
      send((options.greeting?.(greeting) ?? greeting) as object);
    }
    if (message.type === 'question') void reply(message);
    if (message.type === 'welcome' && options.heartbeat !== false) {
      beat();
      beating = setInterval(beat, message.limits.heartbeatMs);
    }
  };
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => {
      clearInterval(beating);
      resolve({ code, reason: reason.toString() });
      for (const wake of waiting) wake();
    }),
  );
  socket.on('message', (data: Buffer) => {
    const taken = channel.take(data);
    if ('type' in taken) take(taken);
    else pieces.push(taken);
    for (const wake of waiting) wake();
  });
  socket.on('error', () => {});

  /** The first message, past ones included, that fits. */
  const next = async <T extends ToAgent>(
    fits: (message: ToAgent) => message is T,
    { timeoutMs = 60_000, from = 0 } = {},
  ): Promise<T> => {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const found = messages.slice(from).find(fits);
      if (found) return found;
      const restMs = deadline - Date.now();
      if (restMs <= 0 || socket.readyState === WebSocket.CLOSED) throw new Error('the message did not come');
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, restMs);
        waiting.add(wake);
      });
    }
  };
  const typed =
    <Type extends ToAgent['type']>(type: Type) =>
    (message: ToAgent): message is Extract<ToAgent, { type: Type }> =>
      message.type === type;

  const verdict = await next((message): message is Welcome | Refused =>
    ['welcome', 'refused'].includes(message.type),
  ).catch(async (cause) => {
    socket.terminate();
    const { code, reason } = await closed;
    throw new Error(`no welcome; closed with ${code} ${reason}`, { cause });
  });
  if (verdict.type === 'refused') {
    await closed;
    throw new TestAgentRefused(verdict);
  }
  return {
    agentId: verdict.agentId,
    welcome: verdict,
    identity,
    bootId,
    socket,
    messages,
    /** Pieces of files in the order they came. */
    pieces,
    /** Resolves when the connection has ended, with the reason of the controller. */
    closed,
    send,
    sendFile: channel.sendFile,
    beat,
    next: <Type extends ToAgent['type']>(type: Type, wait?: { timeoutMs?: number; from?: number }) =>
      next(typed(type), wait),
    onQuestion: (answerer: Answerer) => {
      answer = answerer;
    },
    stopBeating: () => clearInterval(beating),
    /** Ends the connection; `stopped` closes it cleanly like a stopped agent. */
    close: async (how: 'stopped' | 'broken' = 'stopped') => {
      clearInterval(beating);
      if (how === 'broken') socket.terminate();
      else socket.close(1001);
      await closed;
    },
  };
};

export type TestAgent = Awaited<ReturnType<typeof connectTestAgent>>;

/** A new agent with a token of its own. */
export const enrolTestAgent = async (
  client: Client,
  { tags = '', ...options }: Omit<TestAgentOptions, 'token'> & { tags?: string },
): Promise<TestAgent> => {
  const { data } = await client.agents.createToken({ body: { name: 'test', ttlSec: 600, maxUses: 1, tags } });
  return connectTestAgent({ ...options, token: data.token });
};
