import { spawn } from 'node:child_process';
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSelfSigned } from '@rushhour/agent';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram, stopProcess } from '../programs.ts';

takePriority();

const identity = createSelfSigned(['localhost', '127.0.0.1']);
const page = 'abcdefghij'.repeat(5000);

/** The server of ngtcp2 with a page. */
const startNgtcp2 = async (...options: string[]) => {
  requireProgram('gtlsserver');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-ngtcp2-'));
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certificate, identity.certificate);
  writeFileSync(key, identity.privateKey);
  writeFileSync(join(folder, 'page'), page);
  const port = await freePort();
  const args = ['-d', folder, '--no-quic-dump', '--no-http-dump', ...options, '127.0.0.1', String(port)];
  const server = spawn('gtlsserver', [...args, key, certificate], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  server.stderr.on('data', (text) => {
    log += String(text);
  });
  onTestFinished(async () => {
    await stopProcess(server);
    rmSync(folder, { recursive: true, force: true });
  });
  await sleep(300);
  return { port, log: () => log };
};

const clientOf = (port: number, more: object = {}) => ({
  ...{ role: 'client', version: '3', targets: [{ host: '127.0.0.1', port }], path: '/page', connections: 2 },
  ...{ tls: { verify: true, ca: identity.certificate, sni: 'localhost' }, expect: { bodyContains: 'jabc' }, ...more },
});

it('ngtcp2 asks for pages, and goes on from another port, where our server follows', async () => {
  requireProgram('gtlsclient');
  const port = await freePort();
  const server = await startServer('http', {
    ...{ listen: [{ host: '127.0.0.1', port }], version: '3', tls: { ...identity } },
    responses: [{ body: { type: 'text', data: page } }],
  });
  const moving = ['--change-local-addr=300ms', '--nat-rebinding', '--delay-stream=600ms'];
  for (const options of [['-n', '20'], moving]) {
    const where = ['127.0.0.1', String(port), `https://localhost:${port}/page`];
    await execute('gtlsclient', ['-q', '--exit-on-all-streams-close', ...options, ...where], { timeout: 30_000 });
  }
  const served = await server.stop();
  expect(served.counter('http.served')).toBe(21);
  expect(served.counter('http.quicMoves')).toBe(1);
  expect(served.counter('http.errors.protocol')).toBe(0);
});

it.each([
  ['without more', []],
  ['with Retry', ['-V']],
])('our client is answered by ngtcp2 %s, and goes on from other ports', async (_, options) => {
  const { port } = await startNgtcp2('-q', ...options);
  const config = clientOf(port, { portChangeMs: 500, load: { rate: 100 } });
  const run = await runJob({ engine: 'http', config, duration: { mode: 'time', seconds: 2 } });
  expect([run.counter('http.ok'), run.counter('http.ko')]).toEqual([run.counter('http.requests'), 0]);
  expect(run.counter('http.connections')).toBe(2);
  expect(run.counter('http.quicMoves')).toBeGreaterThanOrEqual(2 * 2);
});

/** Passes datagrams on; `reset` sends one to the client in the name of the server. */
const startRelay = async (to: number) => {
  const [front, back] = [createSocket('udp4'), createSocket('udp4')];
  let client: RemoteInfo | undefined;
  const answer = (bytes: Uint8Array) => void (client && front.send(bytes, client.port, client.address));
  front.on('message', (bytes, from) => {
    client = from;
    back.send(bytes, to, '127.0.0.1');
  });
  back.on('message', answer);
  front.bind(0, '127.0.0.1');
  back.bind(0, '127.0.0.1');
  await Promise.all([once(front, 'listening'), once(back, 'listening')]);
  onTestFinished(() => {
    front.close();
    back.close();
  });
  return { port: front.address().port, answer };
};

it('our client ends at once by a stateless reset, and opens another connection', async () => {
  const { port, log } = await startNgtcp2();
  const relay = await startRelay(port);
  const config = clientOf(relay.port, { connections: 1, load: { rate: 50 }, timeoutMs: 20_000 });
  const running = runJob({ engine: 'http', config, duration: { mode: 'time', seconds: 2 } });
  const token = () => /tx .*NEW_CONNECTION_ID.*stateless_reset_token=0x([0-9a-f]{32})/.exec(log())?.[1] ?? '';
  await expect.poll(token).not.toBe('');
  await sleep(300);
  // A short header, bytes without a meaning, and the token of a number that the server has given (RFC 9000, 10.3).
  relay.answer(Buffer.concat([Buffer.of(0x45), Buffer.alloc(30, 0xa7), Buffer.from(token(), 'hex')]));
  const run = await running;
  expect(run.counter('http.connections')).toBe(2);
  expect(run.counter('http.errors.timeout')).toBe(0);
  expect(run.counter('http.requests') - run.counter('http.ok')).toBeLessThanOrEqual(2);
  expect(run.counter('http.ok')).toBeGreaterThan(80);
});
