import { type AddressSet, createAddressSet, DraftError, shareOf } from '@rushhour/pools';
import type { PlanNetwork } from '../core/plan-input.ts';
import type { TrafficEntry } from '../core/traffic-entry.ts';
import { AddressShare } from './address-share.ts';

/** A source or target of an entry. */
export interface Endpoint {
  readonly agent?: { readonly id: number };
  readonly interfaceId?: number;
  readonly network?: { readonly id: number };
  readonly ip?: string;
  readonly ports?: string;
  readonly weight: number;
}

export const endpointsOf = (entry: TrafficEntry, member: 'sources' | 'targets'): readonly Endpoint[] =>
  entry.values[member] ?? [];

interface Compiled {
  readonly set?: AddressSet;
  readonly problem?: string;
}

/**
 * Which agent has which addresses of a network. All agents of a task that use the same network get a share each, and
 * no two shares meet.
 */
export class AddressAllocator {
  readonly #networks: ReadonlyMap<number, PlanNetwork>;
  /** By network: the agents that use it, in the order they are named. */
  readonly #users = new Map<number, number[]>();
  readonly #compiled = new Map<number, Compiled>();

  constructor(networks: ReadonlyMap<number, PlanNetwork>, entries: readonly TrafficEntry[]) {
    this.#networks = networks;
    const endpoints = entries.flatMap((entry) => [...endpointsOf(entry, 'sources'), ...endpointsOf(entry, 'targets')]);
    for (const { agent, network, ip } of endpoints) {
      if (agent === undefined || network === undefined || ip !== undefined) continue;
      const users = this.#users.get(network.id) ?? [];
      if (!users.includes(agent.id)) this.#users.set(network.id, [...users, agent.id]);
    }
  }

  network(id: number): PlanNetwork | undefined {
    return this.#networks.get(id);
  }

  /** Why the network has no addresses; undefined when it has. */
  problemOf(networkId: number): string | undefined {
    return this.#compile(networkId).problem;
  }

  /** All addresses of a network that no agent has. */
  whole(networkId: number): AddressShare | undefined {
    const { set } = this.#compile(networkId);
    return set && new AddressShare(set);
  }

  /** Undefined when the network has no addresses, or too few for each to get one. */
  share(networkId: number, agentId: number): AddressShare | undefined {
    const { set } = this.#compile(networkId);
    const users = this.#users.get(networkId) ?? [];
    if (set === undefined || !users.includes(agentId)) return undefined;
    const { start, size } = shareOf(set.size, users.indexOf(agentId), users.length);
    return size === 0n ? undefined : new AddressShare(set, start, size);
  }

  #compile(networkId: number): Compiled {
    const known = this.#compiled.get(networkId) ?? compile(this.#networks.get(networkId));
    this.#compiled.set(networkId, known);
    return known;
  }
}

const compile = (network: PlanNetwork | undefined): Compiled => {
  if (network === undefined) return { problem: 'there is no such network' };
  try {
    return { set: createAddressSet(network) };
  } catch (error) {
    if (error instanceof DraftError) return { problem: error.message };
    throw error;
  }
};
