import { formatAddress, parseAddress } from '@rushhour/pools';
import type { PlanAgent } from '../core/plan-input.ts';
import { isLoopback, ownAddresses, versionOf } from './machine-addresses.ts';

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Of addresses to listen on, those that no interface of the agent has: as ranges, as the agent takes them. */
export const addressesToAdd = (agent: PlanAgent, hosts: Iterable<string>): string[] => {
  const own = ownAddresses(agent);
  const foreign = [...new Set(hosts)].filter((host) => !isWildcard(host) && !isLoopback(host) && !own.has(host));
  return ([4, 6] as const).flatMap((version) => {
    const values = foreign.filter((host) => versionOf(host) === version).map((host) => parseAddress(host).value);
    return rangesOf(values).map(([first, last]) => {
      const from = formatAddress(version, first);
      return first === last ? from : `${from}-${formatAddress(version, last)}`;
    });
  });
};

const rangesOf = (values: readonly bigint[]): [bigint, bigint][] => {
  const ranges: [bigint, bigint][] = [];
  for (const value of values.toSorted((a, b) => (a < b ? -1 : 1))) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1n === value) last[1] = value;
    else ranges.push([value, value]);
  }
  return ranges;
};
