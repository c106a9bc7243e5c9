import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Job } from '@rushhour/protocol';
import { findOwner, findRoute, outwardDevices } from '../net/packet/route.ts';

/** What the configurations of all engines call their ends. */
interface Ends {
  readonly targets?: readonly { readonly host?: string }[];
  readonly listen?: readonly { readonly host?: string }[];
  readonly device?: string;
  readonly interface?: string;
}

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
/** Targets of one job that are looked at: a thousand of them lie behind the same few interfaces. */
const mostTargets = 256;

const distinct = (ends: readonly { readonly host?: string }[] = []) => [
  ...new Set(ends.flatMap(({ host }) => host ?? [])),
];

const towards = async (host: string): Promise<string[]> => {
  const address = isIP(host) === 0 ? (await lookup(host, { verbatim: false })).address : host;
  return [(await findRoute(address)).device];
};

const behind = (host: string): string[] => {
  if (wildcards.has(host)) return [...outwardDevices(), 'lo'];
  if (host.startsWith('127.')) return ['lo'];
  const owner = findOwner(host);
  // An address that is claimed only while the job lasts may be reached by any of them.
  return owner === undefined ? outwardDevices() : [owner];
};

/** The interfaces by which the traffic of jobs leaves and arrives. */
export const usedInterfaces = async (jobs: readonly Job[]): Promise<string[]> => {
  const found = new Set<string>();
  for (const { config } of jobs) {
    const { targets, listen, device, interface: named } = (config ?? {}) as Ends;
    for (const name of [device, named]) if (typeof name === 'string') found.add(name);
    const ways = distinct(targets)
      .slice(0, mostTargets)
      // A target that cannot be reached now has no interface; its engine says so itself.
      .map((host) => towards(host).catch(() => []));
    for (const names of [...(await Promise.all(ways)), ...distinct(listen).map(behind)]) {
      for (const name of names) found.add(name);
    }
  }
  return [...found];
};
