import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram, startNginx } from '../programs.ts';

takePriority();

const identity = createSelfSigned(['localhost', '127.0.0.1']);
const text = 'abcdefghij'.repeat(30_000);

const withH2Server = async (options: object, use: (port: number) => Promise<void>) => {
  const port = await freePort();
  const server = await startServer('http', {
    listen: [{ host: '127.0.0.1', port }],
    version: '2',
    responses: [{ body: { type: 'text', data: text }, headers: [{ name: 'X-Test', value: 'yes' }] }],
    ...options,
  });
  await use(port);
  return server.stop();
};

describe.each(['io_uring', 'epoll', 'node'])('HTTP/2 on %s', (dataPath) => {
  it.each([
    ['in the clear', false],
    ['over TLS', true],
  ])('is answered by nginx %s, bodies of requests included', async (_, isSecure) => {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-h2-'));
    const [cert, key] = [join(folder, 'cert'), join(folder, 'key')];
    writeFileSync(cert, identity.certificate);
    writeFileSync(key, identity.privateKey);
    const port = await freePort();
    const secure = isSecure ? `ssl http2; ssl_certificate ${cert}; ssl_certificate_key ${key}` : 'http2';
    const nginx = await startNginx(
      await freePort(),
      `listen 127.0.0.1:${port} ${secure}; client_max_body_size 8m; location / { return 200 "hello"; }`,
    );
    const common = { role: 'client', version: '2', targets: [{ host: '127.0.0.1', port }], dataPath };
    const tls = isSecure ? { tls: { verify: true, ca: identity.certificate, sni: 'localhost' } } : {};
    const config = { ...common, ...tls, connections: 3, maxStreams: 10, expect: { bodyContains: 'hello' } };
    const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 1000 } });
    const posting = { ...config, method: 'POST', body: { type: 'random', size: 200_000 } };
    const posted = await runJob({ engine: 'http', config: posting, duration: { mode: 'count', count: 30 } });
    await nginx.stop();
    rmSync(folder, { recursive: true });
    expect(run.counter('http.ok')).toBe(1000);
    expect(posted.counter('http.ok')).toBe(30);
    // nginx answers before it has read all of a body that it does not need.
    expect(posted.counter('http.txBytes')).toBeGreaterThan(1_500_000);
  });

  it('serves curl and h2load, also with the smallest windows', async () => {
    requireProgram('h2load');
    const served = await withH2Server({ tls: { ...identity }, dataPath }, async (port) => {
      const url = `https://127.0.0.1:${port}/`;
      const { stdout } = await execute('curl', ['-ski', '--http2', url], { maxBuffer: 2_000_000 });
      expect(stdout).toMatch(/^HTTP\/2 200/);
      expect(stdout).toContain('x-test: yes');
      expect(stdout.endsWith(text)).toBe(true);
      for (const windows of [[], ['-w', '14', '-W', '15']]) {
        const load = await execute('h2load', ['-n', '200', '-c', '5', '-m', '8', ...windows, url]);
        expect(load.stdout).toContain('200 succeeded, 0 failed, 0 errored');
      }
    });
    expect(served.counter('http.served')).toBe(401);
    expect(served.counter('http.errors.protocol')).toBe(0);
  });
});

describe('an HTTP/2 server', () => {
  it.each([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), 1],
    [
      'a frame that is too long',
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x40\x01\x04\x00\x00\x00\x00\x00'),
      6,
    ],
  ])('answers %s with a GOAWAY and closes', async (_, bytes, code) => {
    const served = await withH2Server({}, async (port) => {
      const socket = connect({ host: '127.0.0.1', port });
      const parts: Buffer[] = [];
      socket.on('data', (part) => parts.push(part));
      socket.write(bytes);
      await once(socket, 'end');
      socket.destroy();
      // GOAWAY is the last frame: 8 bytes, of which the last 4 are the code.
      const last = Buffer.concat(parts).subarray(-17);
      expect([last[3], last.readUInt32BE(13)]).toEqual([7, code]);
    });
    expect(served.counter('http.errors.protocol')).toBe(1);
  });

  it('that stops is counted by its clients, and a client that needs ALPN says so', async () => {
    await withH2Server({ tls: { ...identity }, version: '1.1' }, async (port) => {
      const config = { role: 'client', version: '2', targets: [{ host: '127.0.0.1', port }], tls: {}, connections: 1 };
      const run = await runJob({ engine: 'http', config: { ...config, totalSessions: 2 }, duration: { seconds: 3 } });
      expect(run.counter('http.errors.alpn')).toBe(2);
      expect(run.counter('http.requests')).toBe(0);
    });
  });
});
