import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram, startNginx, waitForPort } from '../programs.ts';

takePriority();

const identity = createSelfSigned(['localhost', '127.0.0.1']);
const dataPaths = ['io_uring', 'epoll', 'node'];

const withFiles = async <T>(use: (files: { folder: string; cert: string; key: string }) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-secure-'));
  const files = { folder, cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, identity.certificate);
  writeFileSync(files.key, identity.privateKey);
  try {
    return await use(files);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Runs a program until `use` is done. */
const withServerProgram = async <T>(
  command: string,
  { port, args }: { port: number; args: readonly string[] },
  use: () => Promise<T>,
): Promise<T> => {
  requireProgram(command);
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(child, 'exit');
  try {
    await waitForPort(port);
    return await use();
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
};

const withSecureServer = async (options: object, use: (port: number) => Promise<void>) => {
  const port = await freePort();
  const tls = { certificate: identity.certificate, privateKey: identity.privateKey };
  const server = await startServer('http', {
    listen: [{ host: '127.0.0.1', port }],
    responses: [{ body: { type: 'text', data: 'secret' } }],
    tls,
    ...options,
  });
  await use(port);
  return server.stop();
};

describe.each(dataPaths)('HTTPS on %s', (dataPath) => {
  it('is answered by nginx', () =>
    withFiles(async ({ cert, key }) => {
      const port = await freePort();
      const secure = `listen 127.0.0.1:${port} ssl; ssl_certificate ${cert}; ssl_certificate_key ${key};`;
      const nginx = await startNginx(await freePort(), `${secure} location / { return 200 "hello"; }`);
      const targets = [{ host: '127.0.0.1', port }];
      const tls = { verify: true, ca: identity.certificate, sni: 'localhost' };
      const common = { role: 'client', targets, dataPath, connections: 5, expect: { bodyContains: 'hello' } };
      const run = await runJob({
        engine: 'http',
        config: { ...common, tls },
        duration: { mode: 'count', count: 500 },
      });
      expect(run.counter('http.ok')).toBe(500);
      const closing = { ...common, keepAlive: { enabled: false }, tls: { ...tls, resumption: 'psk' } };
      const resumed = await runJob({ engine: 'http', config: closing, duration: { mode: 'count', count: 50 } });
      await nginx.stop();
      expect(resumed.counter('http.ok')).toBe(50);
      expect(resumed.counter('http.resumed')).toBeGreaterThan(30);
    }));

  it('serves curl and large bodies', async () => {
    const data = 'abcdefghij'.repeat(100_000);
    const served = await withSecureServer({ dataPath, responses: [{ body: { type: 'text', data } }] }, async (port) => {
      const { stdout } = await execute('curl', ['-sk', `https://127.0.0.1:${port}/`], { maxBuffer: 2_000_000 });
      expect(stdout).toBe(data);
      const older = ['-sk', '--tls-max', '1.2', '-d', 'x=1', `https://127.0.0.1:${port}/`];
      expect((await execute('curl', older, { maxBuffer: 2_000_000 })).stdout).toBe(data);
      const targets = [{ host: '127.0.0.1', port }];
      const config = { role: 'client', targets, tls: {}, dataPath, connections: 3 };
      const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 20 } });
      expect(run.counter('http.ok')).toBe(20);
      expect(run.counter('http.rxBytes')).toBeGreaterThan(20_000_000);
    });
    expect(served.counter('http.served')).toBe(22);
  });
});

describe('TLS with OpenSSL', () => {
  it('shakes hands with s_server and resumes its sessions', () =>
    withFiles(async ({ cert, key }) => {
      const port = await freePort();
      const server = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', cert, '-key', key, '-quiet'];
      await withServerProgram('openssl', { port, args: server }, async () => {
        const targets = [{ host: '127.0.0.1', port }];
        const config = { role: 'client', targets, connections: 1, tls: { resumption: 'psk', groups: 'X25519' } };
        const run = await runJob({ engine: 'tls', config, duration: { mode: 'count', count: 10 } });
        expect(run.counter('tls.resumed')).toBe(9);
        expect(run.counter('tls.group.x25519')).toBe(10);
      });
    }));

  it('does not renegotiate when s_server asks for it', () =>
    withFiles(async ({ cert, key }) => {
      const port = await freePort();
      requireProgram('openssl');
      const args = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', cert, '-key', key, '-tls1_2', '-naccept', '1'];
      const server = spawn('openssl', args);
      let printed = '';
      for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (printed += String(text)));
      await expect.poll(() => printed).toContain('ACCEPT');
      const config = {
        role: 'client',
        targets: [{ host: '127.0.0.1', port }],
        connections: 1,
        tls: {},
        totalSessions: 1,
      };
      const running = runJob({ engine: 'http', config, duration: { mode: 'time', seconds: 3 } });
      await expect.poll(() => printed).toContain('GET / HTTP/1.1');
      server.stdin.write('R\n');
      await expect.poll(() => printed).toContain('no renegotiation');
      server.kill('SIGKILL');
      expect((await running).counter('http.connections')).toBe(1);
    }));

  it('lets s_client resume, renegotiate nothing and send early data', () =>
    withFiles(async ({ folder }) => {
      const served = await withSecureServer({ tls: { ...identity, earlyData: true } }, async (port) => {
        const session = join(folder, 'session');
        const request = join(folder, 'request');
        writeFileSync(request, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        const client = `openssl s_client -connect 127.0.0.1:${port} -ign_eof`;
        await execute('bash', ['-c', `${client} -sess_out ${session} < ${request} 2>&1`]);
        const early = await execute('bash', [
          '-c',
          `${client} -sess_in ${session} -early_data ${request} </dev/null 2>&1`,
        ]);
        expect(early.stdout).toContain('Early data was accepted');
        expect(early.stdout).toContain('secret');
        const again = `(sleep 0.3; echo R; sleep 0.3) | openssl s_client -connect 127.0.0.1:${port} -tls1_2 2>&1`;
        expect((await execute('bash', ['-c', `${again} || true`])).stdout).toMatch(
          /RENEGOTIATING[\s\S]*no renegotiation/,
        );
      });
      expect(served.counter('http.served')).toBe(2);
    }));

  it('sends early data when it resumes a session', async () => {
    await withSecureServer({ tls: { ...identity, earlyData: true }, keepAlive: { enabled: false } }, async (port) => {
      const tls = { resumption: 'psk', earlyData: true };
      const targets = [{ host: '127.0.0.1', port }];
      const config = { role: 'client', targets, tls, connections: 1, keepAlive: { enabled: false } };
      const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 20 } });
      expect(run.counter('http.ok')).toBe(20);
      expect(run.counter('http.earlyData.accepted')).toBeGreaterThan(10);
      expect(run.counter('http.earlyData.rejected')).toBe(0);
    });
  });

  it('keeps records as small as asked for', async () => {
    await withSecureServer({ tls: { ...identity, recordSizeLimit: 512 } }, async (port) => {
      const trace = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -connect 127.0.0.1:${port} -ign_eof -msg 2>&1`;
      const { stdout } = await execute('bash', ['-c', trace]);
      const lengths = [...stdout.matchAll(/<<< .*RecordHeader \[length 0005\]\s+17 03 03 (\w\w) (\w\w)/g)];
      const bytes = lengths.map(([, high = '', low = '']) => Number.parseInt(high + low, 16));
      expect(bytes.length).toBeGreaterThan(3);
      expect(Math.max(...bytes)).toBeLessThanOrEqual(512 + 17);
    });
  });
});
