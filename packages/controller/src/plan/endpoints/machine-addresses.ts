import { findAddress, type IpVersion } from '@rushhour/pools';
import type { PlanAgent } from '../core/plan-input.ts';

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
