import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export const execute = promisify(execFile);

/** Throws when a program is missing: without its reference program a test proves nothing. */
export const requireProgram = (name: string): void => {
  if (spawnSync('which', [name]).status !== 0) throw new Error(`these tests need the program ${name}`);
};

export const waitForPort = async (port: number, host = '127.0.0.1'): Promise<void> => {
  for (let attempt = 0; attempt < 1200; attempt++) {
    const socket = connect({ port, host });
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`nothing listens on ${host}:${port}`);
};

export interface Nginx {
  /** One line for each request nginx has served. */
  accessLog(): string[];
  clearAccessLog(): void;
  stop(): Promise<void>;
}

const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** nginx with one worker; `server` is the body of its server block. */
export const startNginx = async (port: number, server: string): Promise<Nginx> => {
  requireProgram('nginx');
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-nginx-'));
  const log = join(folder, 'access.log');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
     events { worker_connections 4096; }
     http { log_format short '$status $request_method $request_uri $body_bytes_sent $remote_addr';
       access_log ${log} short; keepalive_requests 100000000;
       ${temporaryPaths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
       server { listen 127.0.0.1:${port} backlog=4096; ${server} } }`,
  );
  const child = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
    stdio: 'ignore',
  });
  await waitForPort(port);
  return {
    accessLog: () => readFileSync(log, 'utf8').split('\n').filter(Boolean),
    clearAccessLog: () => truncateSync(log),
    async stop() {
      await stopProcess(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export const stopProcess = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
};
