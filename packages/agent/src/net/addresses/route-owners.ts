import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { threadId } from 'node:worker_threads';

/** As many as there can be processes; together with what is behind it, it fits the 32 bits of a route's metric. */
const mostOwners = 2 ** 22;
const name = 'rushhour-owner-';
const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE';

/**
 * A number that nobody else in this network namespace has. What keeps it is a socket with that name, which the kernel takes
 * away with its process however that ends: so a number that another process gets later is never taken for the old one,
 * nor that of a process in another container.
 */
const takeNumber = async (): Promise<number> => {
  for (let candidate = process.pid + threadId; ; candidate++) {
    const number = candidate % mostOwners;
    const server = createServer((socket) => socket.destroy()).unref();
    try {
      await once(server.listen(`\0${name}${number}`), 'listening');
      return number;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
};

let own: Promise<number> | undefined;

/** The number of this process, by which what it makes on the machine is known to be its own. */
export const ownerNumber = (): Promise<number> => {
  own ??= takeNumber();
  return own;
};

/** The numbers whose owners live. */
export const livingOwners = async (): Promise<ReadonlySet<number>> => {
  const sockets = await readFile('/proc/net/unix', 'utf8');
  return new Set(sockets.matchAll(new RegExp(`@${name}(\\d+)$`, 'gm')).map(([, number]) => Number(number)));
};
