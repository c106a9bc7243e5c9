import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { threadId } from 'node:worker_threads';

/** The maximum number of processes on Linux; with the claim number it fits the 32 bits of a route metric. */
const maxOwners = 2 ** 22;
const name = 'rushhour-owner-';
const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE';

/**
 * Reserves an id that is unique in this network namespace by listening on an abstract socket of that name. The kernel
 * removes the socket with its process however that ends, so an id is never mistaken for that of an earlier process or
 * of one in another container.
 */
const reserveOwnerId = async (): Promise<number> => {
  for (let candidate = process.pid + threadId; ; candidate++) {
    const number = candidate % maxOwners;
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

/** The id that marks routes as owned by this thread. */
export const routeOwnerId = (): Promise<number> => {
  own ??= reserveOwnerId();
  return own;
};

/** The ids whose owners are running. */
export const liveRouteOwners = async (): Promise<ReadonlySet<number>> => {
  const sockets = await readFile('/proc/net/unix', 'utf8');
  return new Set(sockets.matchAll(new RegExp(`@${name}(\\d+)$`, 'gm')).map(([, number]) => Number(number)));
};

const run = promisify(execFile);

// Our routes have this protocol number, and a metric made of the owner's id and a random number. So several claims of
// the same network coexist, other agents' routes are left alone, and those of a killed agent can be found.
const protocol = '213';
const claimsPerOwner = 1024;
const ip = (version: 4 | 6, ...args: string[]) => run('ip', [`-${version}`, ...args]);

/** Makes every address of a network local, without configuring each one. Returns a function that undoes it. */
export const addLocalRoute = async (cidr: string, version: 4 | 6): Promise<() => Promise<void>> => {
  const metric = (await routeOwnerId()) * claimsPerOwner + randomInt(claimsPerOwner);
  const route = ['local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', String(metric)];
  await ip(version, 'route', 'add', ...route);
  return async () => {
    await ip(version, 'route', 'del', ...route).catch(() => {});
  };
};

/** Removes routes of agents that no longer run. Returns how many there were. */
export const sweepLocalRoutes = async (): Promise<number> => {
  if (process.platform !== 'linux') return 0;
  let swept = 0;
  for (const version of [4, 6] as const) {
    const list = ip(version, 'route', 'show', 'table', 'local', 'proto', protocol);
    const { stdout } = await list.catch(() => ({ stdout: '' }));
    if (stdout === '') continue;
    // Read after the routes: the owner of a route existed before the route.
    const liveOwners = await liveRouteOwners();
    for (const line of stdout.split('\n')) {
      const [, cidr, metric] = /^local (\S+) .*\bmetric (\d+)/.exec(line) ?? [];
      if (cidr === undefined || metric === undefined) continue;
      if (liveOwners.has(Math.floor(Number(metric) / claimsPerOwner))) continue;
      const route = ['local', cidr, 'dev', 'lo', 'proto', protocol, 'metric', metric];
      // Another agent may remove the same route.
      await ip(version, 'route', 'del', ...route).then(
        () => swept++,
        () => {},
      );
    }
  }
  return swept;
};
