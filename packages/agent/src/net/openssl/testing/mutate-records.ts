// Run in a process of its own: `mutate-records.ts SESSIONS SEED`. Prints what became of sessions whose records were
// changed on the way, and how much memory was left behind.
import { createSelfSigned } from '../../tls/self-signed.ts';
import type { ConnectionEvents } from '../../transport/transport.ts';
import { createTlsClientTransport, createTlsServerTransport } from '../tls-transport.ts';
import { createMemoryTransport, MemoryNetwork } from './memory-transport.ts';

const [sessions = 1000, seed = 1] = process.argv.slice(2).map(Number);
let state = seed >>> 0;
const random = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const counts = { opened: 0, closed: 0, served: 0, handshakeErrors: 0, mutated: 0, alerts: 0 };
let writesLeft = 0;

const changes: readonly ((bytes: Uint8Array) => Uint8Array)[] = [
  (bytes) => bytes.with(random(bytes.length), random(256)),
  (bytes) => bytes.subarray(0, random(bytes.length)),
  (bytes) => Buffer.concat([bytes, bytes]),
  (bytes) => bytes.map((byte) => (random(20) === 0 ? random(256) : byte)),
  (bytes) => Buffer.concat([bytes.subarray(0, 3), Buffer.of(random(256), random(256)), bytes.subarray(5)]),
  (bytes) => Buffer.concat([Buffer.of(random(256)), bytes.subarray(1)]),
];

/** Changes one of the first writes of a session. */
const network = new MemoryNetwork((bytes) => {
  if (bytes.length === 0 || writesLeft-- !== 0) return bytes;
  counts.mutated++;
  return (changes[random(changes.length)] as (typeof changes)[number])(bytes);
});

const inner = createMemoryTransport(network);
const identity = createSelfSigned(['localhost']);
const common = { versions: ['1.2', '1.3'] as ('1.2' | '1.3')[], alpn: [] };
const observer = { alpn: [], onAlert: () => void counts.alerts++ };
const server = createTlsServerTransport(inner, {
  ...observer,
  settings: { ...common, ...identity, requestClientCertificate: false, tickets: true, earlyData: true },
  onHandshakeError: () => void counts.handshakeErrors++,
});
const settings = { ...common, groups: 'X25519:P-256', verify: false, resumption: 'psk', earlyData: true } as const;
const clients = [['1.2'], ['1.3']].map((versions) =>
  createTlsClientTransport(inner, { ...observer, settings: { ...settings, versions: versions as '1.3'[] } }),
);

const text = Buffer.from('x'.repeat(3000));
await server.listen({ host: '', port: 0, isShared: false }, (connection) => ({
  onOpen() {},
  onData: () => connection.writeCopy(text),
  onClose: () => void counts.served++,
}));

const play = (index: number): void => {
  let isClosed = false;
  const events: ConnectionEvents = {
    onOpen() {
      counts.opened++;
      connection.writeCopy(text);
    },
    onData: () => connection.close(),
    onClose() {
      isClosed = true;
      counts.closed++;
    },
  };
  writesLeft = random(7);
  const connection = (clients[index % 2] as (typeof clients)[number]).connect({ address: 'a', port: 1 }, events);
  network.run();
  // What waits for bytes that were cut off ends by a reset.
  if (!isClosed) connection.reset();
  network.run();
};

// Servers keep 20,480 sessions to resume: after about 60,000 tries, of which not all become sessions, memory grows no more.
const warmUp = Math.ceil(sessions * 0.6);
for (let index = 0; index < warmUp; index++) play(index);
globalThis.gc?.();
const before = process.memoryUsage.rss();
for (let index = warmUp; index < sessions; index++) play(index);
globalThis.gc?.();
process.stdout.write(JSON.stringify({ ...counts, grownBytes: process.memoryUsage.rss() - before }));
