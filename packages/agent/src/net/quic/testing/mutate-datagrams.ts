// Run in a process of its own: `mutate-datagrams.ts CONNECTIONS DATAGRAMS SEED`. Connections pass a relay that changes
// one of their datagrams; then changed copies of all datagrams are thrown at the server. Prints what became of it.
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, echo, listenForEchoes, open } from './quic-pair.ts';

const [connections = 100, datagrams = 10_000, seed = 1] = process.argv.slice(2).map(Number);
let state = seed >>> 0;
const random = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const changes: readonly ((bytes: Buffer) => Buffer)[] = [
  (bytes) => Buffer.from(bytes.with(random(bytes.length), random(256))),
  (bytes) => bytes.subarray(0, random(bytes.length)),
  (bytes) => Buffer.concat([bytes, bytes.subarray(0, random(bytes.length))]),
  (bytes) => Buffer.from(bytes.map((byte) => (random(30) === 0 ? random(256) : byte))),
  (bytes) => Buffer.concat([Buffer.of(random(256)), bytes.subarray(1)]),
  (bytes) => Buffer.from(bytes.map((byte, index) => (index > 0 && index < 30 ? random(256) : byte))),
];
const mutate = (bytes: Buffer): Buffer => (changes[random(changes.length)] as (typeof changes)[number])(bytes);

const counts = { echoed: 0, failed: 0, mutated: 0, thrown: 0, echoedAfter: 0, grownBytes: 0 };
const seen: Buffer[] = [];
const server = await listenForEchoes();

/** Passes datagrams on; changes number `at` of those in either direction. */
const relay = async (at: number): Promise<{ port: number; close: () => void }> => {
  const [front, back] = [createSocket('udp4'), createSocket('udp4')];
  let [count, client] = [0, undefined as RemoteInfo | undefined];
  const pass = (bytes: Buffer): Buffer => {
    if (seen.length < 5000) seen.push(bytes);
    if (count++ !== at || bytes.length === 0) return bytes;
    counts.mutated++;
    return mutate(bytes);
  };
  front.on('message', (bytes, from) => {
    client = from;
    back.send(pass(bytes), server.port, '127.0.0.1');
  });
  back.on('message', (bytes) => {
    if (client !== undefined) front.send(pass(bytes), client.port, client.address);
  });
  front.bind(0, '127.0.0.1');
  back.bind(0, '127.0.0.1');
  await Promise.all([once(front, 'listening'), once(back, 'listening')]);
  return {
    port: front.address().port,
    close() {
      front.close();
      back.close();
    },
  };
};

const client = createClient();
const within = <T>(promise: Promise<T>): Promise<T> =>
  Promise.race([promise, sleep(15_000).then(() => Promise.reject(new Error('too late')))]);

const attempt = async (): Promise<void> => {
  const { port, close } = await relay(random(12));
  try {
    const connection = await within(open(client, port));
    await within(echo(connection, Buffer.alloc(3000, 7)));
    connection.close(0);
    counts.echoed++;
  } catch {
    counts.failed++;
  }
  close();
};

const concurrent = 100;
for (let done = 0; done < connections; done += concurrent)
  await Promise.all(Array.from({ length: concurrent }, attempt));

const thrower = createSocket('udp4');
const memory = () => process.memoryUsage().rss;
let before = 0;
for (; counts.thrown < datagrams; counts.thrown++) {
  if (counts.thrown === Math.floor(datagrams / 2)) before = memory();
  const bytes = mutate(seen[random(seen.length)] as Buffer);
  if (bytes.length > 0) thrower.send(bytes, server.port, '127.0.0.1');
  if (counts.thrown % 50 === 0) await new Promise(setImmediate);
}
counts.grownBytes = memory() - before;
thrower.close();
await echo(await within(open(client, server.port)), Buffer.alloc(1000));
counts.echoedAfter = 1;
await client.close();
await server.close();
process.stdout.write(JSON.stringify(counts));
process.exit(0);
