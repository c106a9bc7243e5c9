import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { runJob } from '../job.ts';

it('uses thousands of addresses that no interface has, and leaves none of them configured', async () => {
  const peers = new Set<string>();
  const server = createServer((socket) => {
    peers.add(socket.remoteAddress ?? '');
    socket.on('error', () => {}).resume();
  }).listen(0, '127.0.0.1', 8192);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = {
    role: 'client',
    targets: [{ host: '127.0.0.1', port }],
    connections: 200,
    totalSessions: 4000,
    sources: { networks: ['10.214.0.0/18'] },
  };
  const run = await runJob({ engine: 'tcp', config, duration: { seconds: 30 } });
  server.close();
  expect(run.outcome).toMatchObject({ status: 'finished', notes: ['4000 of 16382 source addresses were used'] });
  expect(run.counter('tcp.established')).toBe(4000);
  expect(peers.size).toBe(4000);
  expect(execFileSync('ip', ['route', 'show', 'table', 'local'], { encoding: 'utf8' })).not.toContain('10.214.');
});
