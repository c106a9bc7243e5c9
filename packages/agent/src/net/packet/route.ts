import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The route to an address. */
export interface PacketRoute {
  readonly device: string;
  /** The router, or the target itself. */
  readonly nextHop: string;
  /** The machine's source address on this route. */
  readonly source: string;
  readonly isLoopback: boolean;
}

export class RouteMissing extends Error {
  readonly code = 'NO_ROUTE';
}

interface Answer {
  readonly dev?: string;
  readonly gateway?: string;
  readonly prefsrc?: string;
}

/** By the routing table, or by an interface whose neighbour the target is. */
export const findRoute = async (address: string, device?: string): Promise<PacketRoute> => {
  const version = address.includes(':') ? 6 : 4;
  const deviceArgs = device === undefined ? [] : ['oif', device];
  const { stdout } = await run('ip', [`-${version}`, '-j', 'route', 'get', address, ...deviceArgs]).catch(
    (error: Error & { stderr?: string }) => {
      throw new RouteMissing(`no route to ${address}: ${(error.stderr ?? error.message).trim()}`);
    },
  );
  const [{ dev, gateway, prefsrc } = {} as Answer] = JSON.parse(stdout || '[]') as Answer[];
  if (dev === undefined) throw new RouteMissing(`no route to ${address}`);
  const source = prefsrc ?? ownAddresses(dev, version)[0] ?? (version === 6 ? '::' : '0.0.0.0');
  return { device: dev, nextHop: gateway ?? address, source, isLoopback: dev === 'lo' };
};

const ownAddresses = (device: string, version: 4 | 6): string[] =>
  (networkInterfaces()[device] ?? []).filter(({ family }) => family === `IPv${version}`).map(({ address }) => address);

/** The interface with this address; undefined if there is none. */
export const findOwner = (address: string): string | undefined =>
  Object.entries(networkInterfaces()).find(([, entries]) => entries?.some((entry) => entry.address === address))?.[0];

/** Interfaces with non-loopback addresses. */
export const outwardDevices = (): string[] =>
  Object.entries(networkInterfaces())
    .filter(([, entries]) => entries?.some(({ internal }) => !internal))
    .map(([name]) => name);
