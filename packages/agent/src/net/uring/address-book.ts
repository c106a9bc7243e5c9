import { type Memory, mapMemory } from '../kernel/memory.ts';
import { familyOf, socketAddressBytes, writeSocketAddress } from '../kernel/socket-address.ts';
import type { Route } from '../transport.ts';

const stride = 64;
const localOffset = 32;
const slotsPerMemory = 4096;

/** An address where the kernel reads it. */
export interface KernelAddress {
  readonly at: number;
  readonly length: number;
}

interface Target extends KernelAddress {
  readonly address: string;
  readonly port: number;
  readonly family: number;
}

/** Where connections go and come from, with a place for both in each slot. */
export class AddressBook {
  readonly #memories: Memory[] = [];
  /** What is written in each slot: one connection after the other mostly goes to the same target. */
  readonly #targets: (Target | undefined)[] = [];

  target(slot: number, { address, port }: Route): Target {
    const known = this.#targets[slot];
    if (known !== undefined && known.address === address && known.port === port) return known;
    // Writing may fail halfway.
    this.#targets[slot] = undefined;
    const target = { address, port, family: familyOf(address), ...this.#write(slot, 0, { address, port }) };
    this.#targets[slot] = target;
    return target;
  }

  /** What was written last. */
  targetOf(slot: number): KernelAddress {
    return this.#targets[slot] as Target;
  }

  source(slot: number, address: string): KernelAddress {
    return this.#write(slot, localOffset, { address, port: 0 });
  }

  #write(slot: number, offset: number, what: { readonly address: string; readonly port: number }): KernelAddress {
    const index = Math.floor(slot / slotsPerMemory);
    this.#memories[index] ??= mapMemory({ length: stride * slotsPerMemory });
    const memory = this.#memories[index];
    const place = (slot % slotsPerMemory) * stride + offset;
    const at = memory.addressOf(place, socketAddressBytes);
    return { at, length: writeSocketAddress(memory.bytes, place, what) };
  }
}
