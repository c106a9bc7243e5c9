import { createSelfSigned } from '@rushhour/agent';
import { expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram } from '../programs.ts';

takePriority();

const identity = createSelfSigned(['localhost', '127.0.0.1']);

const startDoq = async () => {
  const port = await freePort();
  const server = await startServer('dns', {
    listen: [{ host: '127.0.0.1', port, transport: 'doq' }],
    tls: { ...identity },
    answers: [{ name: 'www.example.test', type: 'A', data: '192.0.2.10' }],
  });
  return { port, stop: server.stop };
};

it('DNS over QUIC: kdig is answered', async () => {
  requireProgram('kdig');
  const { port, stop } = await startDoq();
  const { stdout } = await execute('kdig', ['+quic', '@127.0.0.1', '-p', String(port), 'www.example.test', 'A']);
  const served = await stop();
  expect(stdout).toContain('192.0.2.10');
  expect(served.counter('dns.answered')).toBe(1);
});

it('DNS over QUIC: queries of the client are answered, more at the same time than a server allows streams', async () => {
  const { port, stop } = await startDoq();
  const run = await runJob({
    engine: 'dns',
    config: {
      role: 'client',
      transport: 'doq',
      targets: [{ host: '127.0.0.1', port }],
      tls: { verify: true, ca: identity.certificate, sni: 'localhost' },
      names: ['www.example.test', 'missing.example.test'],
      sockets: 2,
      concurrency: 500,
      timeoutMs: 10_000,
      load: {},
    },
    duration: { mode: 'count', count: 1600 },
  });
  const served = await stop();
  expect(run.counter('dns.answers')).toBe(1600);
  expect(run.counter('dns.rcode.NOERROR')).toBe(800);
  expect(run.counter('dns.rcode.NXDOMAIN')).toBe(800);
  expect(run.counter('dns.mismatched')).toBe(0);
  expect(run.counter('dns.connections')).toBe(2);
  expect(run.histogram('dns.quicRtt').count).toBeGreaterThan(0);
  expect(run.counter('dns.quicPackets')).toBeGreaterThan(10);
  expect(run.counter('dns.quicLost')).toBeLessThan(run.counter('dns.quicPackets'));
  expect(served.counter('dns.answered')).toBe(1600);
});

it('DNS over QUIC: after 1,000 queries the client opens another connection, and none is lost', async () => {
  const { port, stop } = await startDoq();
  const run = await runJob({
    engine: 'dns',
    config: {
      role: 'client',
      transport: 'doq',
      targets: [{ host: '127.0.0.1', port }],
      tls: { verify: false },
      names: ['www.example.test'],
      sockets: 1,
      concurrency: 50,
      load: {},
    },
    duration: { mode: 'count', count: 2500 },
  });
  const served = await stop();
  expect([run.counter('dns.answers'), run.counter('dns.queries')]).toEqual([2500, 2500]);
  expect(run.counter('dns.connections')).toBe(3);
  expect(served.counter('dns.answered')).toBe(2500);
});
