import { SystemError } from '../kernel/errno.ts';
import { mapMemory, writeAddress } from '../kernel/memory.ts';
import type { Ring } from './ring.ts';
import { registration } from './ring-layout.ts';

// The kernel allows as many entries as the process may have open files.
const sizes = [32_768, 8192, 1024];
const sparse = 1;
const emptySlot = -1;

/** Registered files: a request that names a slot skips the kernel's file lookup. */
export class FileTable {
  readonly #ring: Ring;
  readonly #memory = mapMemory({ length: 64 });
  readonly #words = this.#memory.int32;
  readonly #free: number[] = [];

  constructor(ring: Ring) {
    this.#ring = ring;
    const size = sizes.find((count) => this.#create(count)) ?? 0;
    // Filled one by one: V8 turns a preallocated array of this size into a slow dictionary.
    for (let slot = size - 1; slot >= 0; slot--) this.#free.push(slot);
  }

  /** The slot of the file; -1 if there is none. */
  add(fd: number): number {
    const slot = this.#free.pop();
    if (slot === undefined) return -1;
    if (this.#put(slot, fd)) return slot;
    this.#free.push(slot);
    return -1;
  }

  remove(slot: number): void {
    this.#put(slot, emptySlot);
    this.#free.push(slot);
  }

  #create(count: number): boolean {
    this.#words.fill(0);
    this.#words[0] = count;
    this.#words[1] = sparse;
    return this.#register(registration.files, 32);
  }

  #put(slot: number, fd: number): boolean {
    const fdsAt = 32;
    this.#words[0] = slot;
    this.#words[1] = 0;
    writeAddress(this.#words, 2, this.#memory.addressOf(fdsAt, 4));
    this.#words[fdsAt >> 2] = fd;
    return this.#register(registration.filesUpdate, 1);
  }

  #register(what: number, count: number): boolean {
    try {
      this.#ring.register(what, this.#memory.addressOf(0, 32), count);
      return true;
    } catch (error) {
      if (error instanceof SystemError) return false;
      throw error;
    }
  }
}
