import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Job } from '@rushhour/protocol';
import { findOwner, findRoute, outwardDevices } from '../net/packet/route.ts';

/** Members that all engine configurations use for endpoints. */
interface Endpoints {
  readonly targets?: readonly { readonly host?: string }[];
  readonly listen?: readonly { readonly host?: string }[];
  readonly device?: string;
  readonly interface?: string;
}

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
/** Maximum number of targets examined per job: many targets are behind the same few interfaces. */
const maxTargets = 256;

const distinct = (endpoints: readonly { readonly host?: string }[] = []) => [
  ...new Set(endpoints.flatMap(({ host }) => host ?? [])),
];

const towards = async (host: string): Promise<string[]> => {
  const address = isIP(host) === 0 ? (await lookup(host, { verbatim: false })).address : host;
  return [(await findRoute(address)).device];
};

const behind = (host: string): string[] => {
  if (wildcards.has(host)) return [...outwardDevices(), 'lo'];
  if (host.startsWith('127.')) return ['lo'];
  const owner = findOwner(host);
  // An address claimed only during the job may be reached through any of them.
  return owner === undefined ? outwardDevices() : [owner];
};

/** The interfaces that carry the traffic of the jobs. */
export const usedInterfaces = async (jobs: readonly Job[]): Promise<string[]> => {
  const found = new Set<string>();
  for (const { config, stack } of jobs) {
    // The machine has no routes to what emulated hosts reach.
    if (stack !== undefined) {
      found.add(stack.interface);
      continue;
    }
    const { targets, listen, device, interface: named } = (config ?? {}) as Endpoints;
    for (const name of [device, named]) if (typeof name === 'string') found.add(name);
    const routes = distinct(targets)
      .slice(0, maxTargets)
      // An unreachable target has no interface; its engine reports that.
      .map((host) => towards(host).catch(() => []));
    for (const names of [...(await Promise.all(routes)), ...distinct(listen).map(behind)]) {
      for (const name of names) found.add(name);
    }
  }
  return [...found];
};
