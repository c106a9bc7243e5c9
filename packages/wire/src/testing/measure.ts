// `node packages/wire/src/testing/measure.ts`: segments and bytes a second of one core, two TCP stacks in one memory.
import { createMemory, type Memory } from '../bytes/memory.ts';
import { SummedBytes } from '../bytes/summed-bytes.ts';
import type { TcpConnection, TcpEvents } from '../tcp/connection.ts';
import type { SegmentSink } from '../tcp/context.ts';
import { defaultTcpSettings } from '../tcp/settings.ts';
import { Tcp } from '../tcp/tcp.ts';
import { createRandom } from './random.ts';
import { keyFor } from './simulated-wire.ts';

const slotBytes = 2048;
const slotCount = 4096;

/** One direction: segments in slots of one memory, with their addresses. */
class Ring {
  readonly memory: Memory = createMemory(slotBytes * slotCount);
  readonly lengths = new Int32Array(slotCount);
  readonly addresses = new Int32Array(slotCount * 8);
  written = 0;
  read = 0;

  readonly sink: SegmentSink = {
    memory: this.memory,
    begin: (keys, at) => {
      if (this.written - this.read >= slotCount) return -1;
      const slot = this.written & (slotCount - 1);
      for (let i = 0; i < 4; i++) {
        this.addresses[slot * 8 + i] = keys[at + 4 + i] as number;
        this.addresses[slot * 8 + 4 + i] = keys[at + i] as number;
      }
      return slot * slotBytes + 64;
    },
    commit: (_offset, length) => {
      this.lengths[this.written++ & (slotCount - 1)] = length;
    },
    mtuOf: () => 1500,
  };
}

const packet = { addresses: new Int32Array(8), path: 0, ecn: 0, checks: true };
const batch = 64;

const drain = (ring: Ring, to: Tcp): number => {
  const count = Math.min(ring.written - ring.read, batch);
  for (let i = 0; i < count; i++) {
    const slot = ring.read & (slotCount - 1);
    for (let word = 0; word < 8; word++) packet.addresses[word] = ring.addresses[slot * 8 + word] as number;
    const at = slot * slotBytes + 64;
    to.receive(ring.memory, at, at + (ring.lengths[slot] as number), packet);
    ring.read++;
  }
  to.flush();
  to.unblock();
  return count;
};

/** Processor time: figures hold on a busy machine too. */
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const nowUs = (): number => Math.floor(performance.now() * 1000) + 1_000_000;

const createPair = () => {
  const up = new Ring();
  const down = new Ring();
  const random = createRandom(1);
  const client = new Tcp({ sink: up.sink, nowUs: nowUs(), random });
  const server = new Tcp({ sink: down.sink, nowUs: nowUs(), random });
  const run = (seconds: number): number => {
    const end = cpuSeconds() + seconds;
    let segments = 0;
    while (cpuSeconds() < end) {
      client.advance(nowUs());
      server.advance(nowUs());
      for (let i = 0; i < 16; i++) segments += drain(up, server) + drain(down, client);
    }
    return segments;
  };
  return { client, server, run };
};

const silent = { onOpen() {}, onData() {}, onSent() {}, onEnd() {}, onClose() {} };

/** Requests of 100 bytes, answers of 300, on many connections. */
const measureExchanges = (connections: number, noDelay: boolean): { exchanges: number; segments: number } => {
  const { client, server, run } = createPair();
  const request = new Uint8Array(100).fill(65);
  const answer = new Uint8Array(300).fill(66);
  let exchanges = 0;
  const settings = { ...defaultTcpSettings, noDelay };
  const onServer: TcpEvents = { ...silent, onData: (c) => server.send(c, answer) };
  server.listen(80, { settings, backlog: 100_000, accept: () => onServer });
  const onClient: TcpEvents = {
    ...silent,
    onOpen: (c) => client.send(c, request),
    onData: (c: TcpConnection) => {
      exchanges++;
      client.send(c, request);
    },
  };
  for (let i = 0; i < connections; i++) client.connect(keyFor(0, 80, i >> 10), { settings, events: onClient, path: 0 });
  run(1);
  exchanges = 0;
  const segments = run(2);
  return { exchanges: exchanges / 2, segments: segments / 2 };
};

/** Connect, one exchange, close by the client. */
const measureShort = (): number => {
  const { client, server, run } = createPair();
  const request = new Uint8Array(100).fill(65);
  const settings = { ...defaultTcpSettings, timeWaitMs: 0 };
  let closed = 0;
  const onServer: TcpEvents = {
    ...silent,
    onData: (c) => server.send(c, request),
    onEnd: (c) => server.close(c),
  };
  server.listen(80, { settings, backlog: 100_000, accept: () => onServer });
  let host = 0;
  const open = () => client.connect(keyFor(0, 80, host++ & 0xffff), { settings, events: onClient, path: 0 });
  const onClient: TcpEvents = {
    ...silent,
    onOpen: (c) => client.send(c, request),
    onData: (c) => client.close(c),
    onClose: () => {
      closed++;
      open();
    },
  };
  for (let i = 0; i < 256; i++) open();
  run(1);
  closed = 0;
  run(2);
  return closed / 2;
};

const measureBulk = (isSummed: boolean): number => {
  const { client, server, run } = createPair();
  const chunk = new Uint8Array(65_536).fill(67);
  let bytes = 0;
  const onServer: TcpEvents = {
    ...silent,
    onData: (_c, _bytes, start, end) => {
      bytes += end - start;
    },
  };
  server.listen(80, { settings: defaultTcpSettings, backlog: 16, accept: () => onServer });
  const summed = new SummedBytes(chunk);
  const push = (c: TcpConnection) => (isSummed ? client.sendSummed(c, summed) : client.send(c, chunk));
  client.connect(keyFor(0, 80), {
    settings: defaultTcpSettings,
    events: { ...silent, onOpen: push, onSent: push },
    path: 0,
  });
  run(1);
  bytes = 0;
  run(2);
  return bytes / 2;
};

/** Bytes of memory for each of many established, idle connections, both sides. */
const measureIdle = (connections: number): number => {
  const { client, server, run } = createPair();
  server.listen(80, { settings: defaultTcpSettings, backlog: 100_000, accept: () => silent });
  globalThis.gc?.();
  const usage = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = usage();
  for (let i = 0; i < connections; i++) {
    client.connect(keyFor(0, 80, i >> 14), { settings: defaultTcpSettings, events: silent, path: 0 });
    if (i % 1000 === 0) run(0.002);
  }
  while (server.connectionCount < connections || client.blockedCount > 0) run(0.05);
  run(0.2);
  globalThis.gc?.();
  return (usage() - before) / connections / 2;
};

const report = (name: string, value: number, unit: string): void =>
  console.log(`${name.padEnd(44)} ${Math.round(value).toLocaleString('en')} ${unit}`);

for (const connections of [50, 10_000]) {
  const { exchanges, segments } = measureExchanges(connections, true);
  report(`exchanges, ${connections} connections`, exchanges, '/s');
  report(`segments, ${connections} connections`, segments, '/s (each sent and received)');
}
report('connections of one exchange', measureShort(), '/s');
report('bulk, one connection', measureBulk(false), 'bytes/s');
report('bulk, one connection, bytes summed once', measureBulk(true), 'bytes/s');
report('memory of an idle connection, a side', measureIdle(200_000), 'bytes');
