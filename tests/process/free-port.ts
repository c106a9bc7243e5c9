import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const listens = (where: { host: string; port: number } | { path: string }) =>
  new Promise<ReturnType<typeof createServer> | undefined>((resolve) => {
    const server = createServer().once('error', () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });

/**
 * A free port below the ephemeral range. It is reserved until the end of the process: a test that runs beside this one may
 * take it otherwise before the server that is to have it listens.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 8000);
    const lock = await listens({ path: `\0rushhour-tests-port-${port}` });
    if (lock === undefined) continue;
    lock.unref();
    const server = await listens({ host: '127.0.0.1', port });
    if (server === undefined) {
      lock.close();
      continue;
    }
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
};

/**
 * Reserves the default ports of task servers; waits while another test has them. The returned function, or the end of
 * the process, releases them.
 */
export const holdDefaultPorts = async (): Promise<() => void> => {
  for (;;) {
    const lock = await listens({ path: '\0rushhour-tests-usual-ports' });
    if (lock !== undefined) return () => void lock.close();
    await sleep(250);
  }
};
