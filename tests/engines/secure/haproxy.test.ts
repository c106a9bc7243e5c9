import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSigned } from '@rushhour/agent';
import { expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { requireProgram, stopProcess, waitForPort } from '../programs.ts';

takePriority();

const [near, far] = [createSelfSigned(['localhost', '127.0.0.1']), createSelfSigned(['localhost'])];

/** HAProxy that ends the TLS of clients with a certificate of its own, and verifies that of the server. */
const startHaproxy = async (serverPort: number, alpn: string) => {
  requireProgram('haproxy');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-haproxy-'));
  const [certificate, authority] = [join(folder, 'cert.pem'), join(folder, 'ca.pem')];
  writeFileSync(certificate, `${near.certificate}\n${near.privateKey}`);
  writeFileSync(authority, far.certificate);
  const port = await freePort();
  writeFileSync(
    join(folder, 'haproxy.cfg'),
    `defaults
  mode http
  timeout connect 30s
  timeout client 60s
  timeout server 60s
frontend in
  bind 127.0.0.1:${port} ssl crt ${certificate} alpn ${alpn}
  default_backend out
backend out
  server agent 127.0.0.1:${serverPort} ssl verify required ca-file ${authority} verifyhost localhost alpn ${alpn}
`,
  );
  const child = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' });
  await waitForPort(port);
  const stop = async () => {
    await stopProcess(child);
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, stop };
};

it.each([
  ['1.1', 'http/1.1'],
  ['2', 'h2'],
])('HAProxy carries HTTP/%s over TLS between our client and our server', async (version, alpn) => {
  const body = { type: 'text', data: 'abcdefghij'.repeat(5000) };
  const listen = [{ host: '127.0.0.1', port: await freePort() }];
  const server = await startServer('http', { listen, version, tls: { ...far }, responses: [{ body }] });
  const haproxy = await startHaproxy(listen[0]?.port ?? 0, alpn);
  const config = {
    ...{ role: 'client', version, targets: [{ host: '127.0.0.1', port: haproxy.port }], connections: 4 },
    tls: { verify: true, ca: near.certificate, sni: 'localhost' },
    expect: { bodyContains: 'jabcdefghij' },
    ...{ method: 'POST', body: { type: 'random', size: 30_000 } },
  };
  const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 400 } });
  await haproxy.stop();
  const served = await server.stop();
  expect(run.counter('http.ok')).toBe(400);
  expect(served.counter('http.served')).toBe(400);
  expect(served.counter('http.rxBytes')).toBeGreaterThan(400 * 30_000);
  expect(served.counter('http.errors.protocol')).toBe(0);
});
