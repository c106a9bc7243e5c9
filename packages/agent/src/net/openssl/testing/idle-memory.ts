// Run in a process of its own: `idle-memory.ts PAIRS BURST`. Opens pairs of sessions, many of them at once, leaves them
// open and prints how much memory a pair takes once they are idle.
import { setTimeout as sleep } from 'node:timers/promises';
import { createSelfSigned } from '../../tls/self-signed.ts';
import type { Connection } from '../../transport/transport.ts';
import { createTlsClientTransport, createTlsServerTransport } from '../tls-transport.ts';
import { createMemoryTransport, MemoryNetwork } from './memory-transport.ts';

const [pairs = 2000, burst = 1000] = process.argv.slice(2).map(Number);
const network = new MemoryNetwork();
const inner = createMemoryTransport(network);
const common = { versions: ['1.3'] as '1.3'[], alpn: [] };
const server = createTlsServerTransport(inner, {
  alpn: [],
  settings: { ...common, ...createSelfSigned(['localhost']), requestClientCertificate: false, tickets: true },
});
const client = createTlsClientTransport(inner, {
  alpn: [],
  settings: { ...common, groups: 'X25519:P-256', verify: false, resumption: 'none' },
});
const text = Buffer.from('x'.repeat(300));
await server.listen({ host: '', port: 0, isShared: false }, (connection) => ({
  onOpen() {},
  onData: () => connection.writeCopy(text),
  onClose() {},
}));

const counts = { answered: 0, pairBytes: 0, heapBytes: 0 };
const kept: Connection[] = [];
const open = (count: number): void => {
  for (let index = 0; index < count; index++) {
    const connection = client.connect(
      { address: 'a', port: 1 },
      { onOpen: () => connection.writeCopy(text), onData: () => void counts.answered++, onClose() {} },
    );
    kept.push(connection);
  }
  network.run();
};

const look = async () => {
  await sleep(2500);
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heapUsed };
};

open(100);
const before = await look();
for (let done = 0; done < pairs; done += burst) open(burst);
const after = await look();
counts.pairBytes = (after.rss - before.rss) / pairs;
counts.heapBytes = (after.heapUsed - before.heapUsed) / pairs;
process.stdout.write(JSON.stringify(counts));
process.exit(kept.length > 0 ? 0 : 1);
