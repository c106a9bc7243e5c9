import { type AddressSet, createAddressSet, DraftError, shareOf } from '@rushhour/pools';
import { endpointsOf, type TrafficEntry } from '../core/load/traffic-entry.ts';
import type { PlanNetwork } from '../core/plan-input.ts';
import type { StackDemands } from '../stack/stack-demand.ts';
import { AddressShare } from './address-share.ts';

interface Compiled {
  readonly set?: AddressSet;
  readonly problem?: string;
}

/**
 * Which agent has which addresses of a network. All that use the same network (agents with kernel sockets, jobs on
 * emulated hosts) get a share each, and no two shares meet.
 */
export class AddressAllocator {
  readonly #networks: ReadonlyMap<number, PlanNetwork>;
  /** By network: who uses it, in the order they are named. */
  readonly #users = new Map<number, Map<string, number>>();
  readonly #compiled = new Map<number, Compiled>();

  constructor(networks: ReadonlyMap<number, PlanNetwork>, entries: readonly TrafficEntry[], demands: StackDemands) {
    this.#networks = networks;
    for (const entry of entries) {
      for (const member of ['sources', 'targets'] as const) {
        for (const [i, { agent, network, ip }] of endpointsOf(entry, member).entries()) {
          if (agent === undefined || network === undefined || ip !== undefined) continue;
          this.#addUser(network.id, demands.addressUserOf(entry, member, i));
        }
      }
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
  share(networkId: number, user: string): AddressShare | undefined {
    const { set } = this.#compile(networkId);
    const users = this.#users.get(networkId);
    const index = users?.get(user);
    if (set === undefined || users === undefined || index === undefined) return undefined;
    const { start, size } = shareOf(set.size, index, users.size);
    return size === 0n ? undefined : new AddressShare(set, start, size);
  }

  #addUser(networkId: number, user: string): void {
    const users = this.#users.get(networkId) ?? new Map<string, number>();
    this.#users.set(networkId, users);
    if (!users.has(user)) users.set(user, users.size);
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
