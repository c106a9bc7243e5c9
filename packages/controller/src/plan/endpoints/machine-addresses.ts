import { findAddress, formatAddress, type IpVersion, parseAddress } from '@rushhour/pools';
import type { PlanAgent } from '../core/plan-input.ts';

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

export const loopbackOf = (version: IpVersion): string => (version === 6 ? '::1' : '127.0.0.1');
export const wildcardOf = (version: IpVersion): string => (version === 6 ? '::' : '0.0.0.0');
export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';

export const versionOf = (address: string): IpVersion => (address.includes(':') ? 6 : 4);

/** Without prefix length and zone. */
export const plainAddress = (address: string): string => address.split(/[/%]/)[0] as string;

// A link-local address says nothing without the interface, which no engine can name.
const isUsable = (address: string): boolean =>
  findAddress(address) !== undefined && !/^(fe[89ab]|169\.254\.)/i.test(address);

/** One that others can send to. */
export const isReachable = (address: string): boolean =>
  isUsable(address) && !isLoopback(address) && address !== '0.0.0.0' && address !== '::';

/** Of one interface of the agent; undefined when it has no such interface. */
export const interfaceAddresses = (agent: PlanAgent, id: number, version: IpVersion): string[] | undefined =>
  agent.interfaces
    .find((found) => found.id === id)
    ?.ips.map(plainAddress)
    .filter((address) => isUsable(address) && versionOf(address) === version);

/** All addresses of the agent's machine, as others would write them. */
export const ownAddresses = (agent: PlanAgent): ReadonlySet<string> =>
  new Set([...agent.addresses, ...agent.interfaces.flatMap(({ ips }) => ips)].map(plainAddress));

/** Where the agent is reached when the task says nothing: a test interface first, then whatever it has. */
export const firstAddress = (agent: PlanAgent, version: IpVersion): string | undefined => {
  const test = agent.interfaces.filter(({ role, usable }) => role === 'test' && usable);
  const candidates = [...test.flatMap(({ ips }) => ips), ...agent.addresses].map(plainAddress);
  return candidates.find((address) => isReachable(address) && versionOf(address) === version);
};

export const isSameMachine = (a: PlanAgent, b: PlanAgent): boolean =>
  a.id === b.id || (a.machineId !== '' && a.machineId === b.machineId);
