// Run in a process of its own: `mutate-frames.ts FRAMES SEED`. Connections to our three servers over HTTP/2 have frames
// changed in either direction. Prints what became of them, and how much memory was left behind.
import { DnsServerConfig } from '@rushhour/protocol';
import { grpcFrames, H2Connection, type H2Events, type Header } from '@rushhour/wire';
import type { TSchema } from 'typebox';
import * as value from 'typebox/value';
import { IndexedSet } from '../../../net/loop/indexed-set.ts';
import { createMemoryTransport, MemoryNetwork } from '../../../net/openssl/testing/memory-transport.ts';
import type { Connection, ConnectionEvents } from '../../../net/transport/transport.ts';
import { SampleStore } from '../../../samples.ts';
import { Resolver } from '../../dns/resolver.ts';
import { DohServerConnection } from '../../dns/serve-doh.ts';
import { GrpcServerConnection } from '../grpc/grpc-server-connection.ts';
import { GrpcMeters } from '../grpc/meters.ts';
import { H2ServerConnection } from '../h2/h2-server-connection.ts';
import { ServerMeters } from '../meters.ts';
import { createResponse } from '../response.ts';

const [frames = 1000, seed = 1] = process.argv.slice(2).map(Number);
let state = seed >>> 0;
const random = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const counts = { connections: 0, served: 0, closed: 0, mutated: 0, answered: 0, resets: 0, errors: 0 };
const headBytes = 9;
const prefaceBytes = 24;

/** Where the frames of a write begin. */
const frameStarts = (bytes: Uint8Array): number[] => {
  const starts: number[] = [];
  const isPreface = bytes[0] === 0x50 && bytes[1] === 0x52;
  for (let at = isPreface ? prefaceBytes : 0; at + headBytes <= bytes.length; ) {
    starts.push(at);
    at += headBytes + (((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number));
  }
  return starts;
};

const bigWords = (bytes: Uint8Array, at: number) => bytes.with(at, random(256)).with(at + 1, random(256));
const changes: readonly ((bytes: Uint8Array, at: number) => Uint8Array)[] = [
  // Length, type, flags, stream, and something behind the head.
  (bytes, at) => bytes.with(at + 1 + random(2), random(256)),
  (bytes, at) => bytes.with(at + 3, random(14)),
  (bytes, at) => bytes.with(at + 4, random(256)),
  (bytes, at) => bytes.with(at + 5 + random(4), random(256)),
  (bytes, at) => bytes.with(Math.min(bytes.length - 1, at + headBytes + random(40)), random(256)),
  (bytes, at) => bigWords(bytes, Math.min(bytes.length - 2, at + headBytes + random(200))),
  (bytes, at) => bytes.subarray(0, at + random(bytes.length - at)),
  (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at), bytes.subarray(at)]),
];

/** Changes a frame of every third write or so. */
const network = new MemoryNetwork((bytes) => {
  const starts = frameStarts(bytes);
  if (starts.length === 0 || random(3) !== 0) return bytes;
  counts.mutated++;
  const change = changes[random(changes.length)] as (typeof changes)[number];
  return change(new Uint8Array(bytes), starts[random(starts.length)] as number);
});

const samples = new SampleStore();
const meters = new ServerMeters(samples);
const body = { type: 'text', size: 0, data: 'x'.repeat(5000) } as const;
const form = { status: 200, delayMs: 0, headers: [], body, isChunked: false, weight: 1 };
const forms = createResponse(form, (bytes) => ({ bytes, address: 0 }));
const { Default } = value as unknown as { Default(schema: TSchema, value: unknown): unknown };
const dns = Default(DnsServerConfig, { role: 'server', listen: [{ host: '', port: 1 }] }) as DnsServerConfig;
const resolver = new Resolver(dns, samples);
const grpc = { call: 'bidirectional', status: 0, answers: 1, compression: 'none' } as never;
const open = { http: new IndexedSet<H2ServerConnection>(), grpc: new IndexedSet<GrpcServerConnection>() };

const servers: readonly ((connection: Connection) => ConnectionEvents)[] = [
  (connection) => new H2ServerConnection(connection, { next: forms.next, meters, idleMs: 1e9, connections: open.http }),
  (connection) =>
    new GrpcServerConnection(connection, {
      ...{ settings: grpc, nextAnswer: undefined, meters, idleMs: 1e9, connections: open.grpc },
      calls: new GrpcMeters(samples),
    }),
  (connection) =>
    new DohServerConnection(connection, { path: '/dns-query', resolver, onError: () => void counts.errors++ }),
];

const query = Buffer.from('abcd01000001000000000000076578616d706c6504746573740000010001', 'hex');
const requests: readonly { readonly headers: readonly Header[]; readonly body: Uint8Array }[] = [
  { headers: [['content-type', 'text/plain']], body: Buffer.alloc(20_000, 'b') },
  { headers: [['content-type', 'application/grpc']], body: grpcFrames([Buffer.alloc(300), Buffer.alloc(4)]) },
  { headers: [['content-type', 'application/dns-message']], body: query },
];
const common: readonly Header[] = [
  [':method', 'POST'],
  [':scheme', 'https'],
  [':path', '/dns-query'],
  [':authority', 'a.test'],
];

const transport = createMemoryTransport(network);
let kind = 0;
await transport.listen({ host: '', port: 0, isShared: false }, (connection) => {
  const inner = (servers[kind] as (typeof servers)[number])(connection);
  const { onClose } = inner;
  inner.onClose = (code, now) => {
    counts.served++;
    onClose.call(inner, code, now);
  };
  return inner;
});

const play = (): void => {
  kind = random(servers.length);
  const { headers, body: content } = requests[kind] as (typeof requests)[number];
  const seen: H2Events = {
    onHeaders: () => void counts.answered++,
    onBody() {},
    onReset: () => void counts.resets++,
  };
  let isClosed = false;
  const connection = transport.connect(
    { address: 'a', port: 1 },
    {
      onOpen() {
        h2.start();
        for (let count = 0; count < 4; count++) {
          h2.request([...common, ...headers], content);
          h2.flush();
        }
      },
      onData: ({ bytes, start, end }) => void h2.feed(bytes, start, end),
      onClose() {
        isClosed = true;
        counts.closed++;
      },
    },
  );
  const h2 = new H2Connection({ isServer: false, write: (bytes) => connection.writeCopy(bytes) }, seen);
  network.run();
  // What waits for frames that were changed ends by a reset.
  if (!isClosed) connection.reset();
  network.run();
  counts.connections++;
};

const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
while (counts.mutated < frames / 4) play();
const before = heap();
while (counts.mutated < frames) play();
const left = [...open.http].length + [...open.grpc].length;
process.stdout.write(JSON.stringify({ ...counts, left, grownBytes: heap() - before }));
