import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../process/free-port.ts';
import { requireProgram, startNginx, stopProcess, waitForPort } from '../programs.ts';

export interface Middlebox {
  readonly port: number;
  stop(): Promise<void>;
}

/** `tls`: options of its own port and of its connections to the server. */
export const startHaproxy = async (
  mode: 'tcp' | 'http',
  serverPort: number,
  tls = { bind: '', server: '' },
): Promise<Middlebox> => {
  requireProgram('haproxy');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-haproxy-'));
  const port = await freePort();
  writeFileSync(
    join(folder, 'haproxy.cfg'),
    `defaults
  mode ${mode}
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend in
  bind 127.0.0.1:${port} ${tls.bind}
  default_backend out
backend out
  ${mode === 'http' ? 'option forwardfor' : ''}
  server agent 127.0.0.1:${serverPort} ${tls.server}
`,
  );
  const child = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' });
  await waitForPort(port);
  return {
    port,
    async stop() {
      await stopProcess(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** nginx with its defaults: it forwards by HTTP/1.0, each request on its own connection. */
export const startReverseProxy = async (serverPort: number): Promise<Middlebox> => {
  const port = await freePort();
  const nginx = await startNginx(port, `location / { proxy_pass http://127.0.0.1:${serverPort}; }`);
  return { port, stop: () => nginx.stop() };
};

/** A TCP proxy that forwards what `meddle` returns; text has one character per byte. */
export const startMeddler = async (
  serverPort: number,
  meddle: (text: string, from: string) => string,
): Promise<Middlebox> => {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const onward = connect({ port: serverPort, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      from.on('data', (bytes) => {
        const text = meddle(bytes.toString('latin1'), client.remoteAddress ?? '');
        to.write(Buffer.from(text, 'latin1'));
      });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    async stop() {
      server.close();
      await once(server, 'close');
    },
  };
};
