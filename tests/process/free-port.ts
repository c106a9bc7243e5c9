import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const listens = (where: { host: string; port: number } | { path: string }) =>
  new Promise<ReturnType<typeof createServer> | undefined>((resolve) => {
    const server = createServer().once('error', () => resolve(undefined));
    server.listen(where, () => resolve(server));
  });

/** A port that nobody listens on, below those that the system gives to outgoing connections. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 8000);
    const server = await listens({ host: '127.0.0.1', port });
    if (server === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
};

/**
 * Waits until no other test uses the ports that servers of a task have when none are said. Gives them back by the
 * function it returns, or when the process ends.
 */
export const holdUsualPorts = async (): Promise<() => void> => {
  for (;;) {
    const lock = await listens({ path: '\0rushhour-tests-usual-ports' });
    if (lock !== undefined) return () => void lock.close();
    await sleep(250);
  }
};
