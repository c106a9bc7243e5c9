import type { HostStack } from '@rushhour/protocol';
import { hostCountOf } from '../hosts.ts';

/** What one of several workers has of the emulated hosts of a job. */
export interface StackShare {
  readonly index: number;
  readonly count: number;
  /** hosts: every worker has hosts of its own. flows: all have all hosts, and every flow has one worker. */
  readonly by: 'hosts' | 'flows';
}

/** How the workers of a job divide its hosts: clients choose theirs, servers cannot choose who comes. */
export const shareKindOf = (config: unknown): StackShare['by'] =>
  (config as { readonly role?: string }).role === 'client' ? 'hosts' : 'flows';

interface Workers {
  readonly count: number;
  /** Why there are fewer than cores. */
  readonly reason?: string;
}

/** How many workers the hosts of a job can be divided among. */
export const stackWorkers = (
  { tunnel, sessions, path, networks }: HostStack,
  by: StackShare['by'],
  cores: number,
): Workers => {
  if (tunnel !== undefined) return { count: 1, reason: 'tunnels are not divided' };
  if (sessions !== undefined) return { count: 1, reason: 'access sessions are not divided' };
  if (path === 'af_xdp') return { count: 1, reason: 'AF_XDP has one reader' };
  if (by === 'flows') return { count: cores };
  const hosts = Math.min(...networks.map(hostCountOf));
  return hosts >= cores ? { count: cores } : { count: hosts, reason: 'every worker needs a host of its own' };
};
