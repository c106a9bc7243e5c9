import { SystemError } from '../kernel/errno.ts';
import { mapMemory, writeAddress } from '../kernel/memory.ts';
import type { Ring } from './ring.ts';
import { registration } from './ring-layout.ts';

// The kernel allows as many as the process may have files.
const sizes = [32_768, 8192, 1024];
const sparse = 1;
const nobody = -1;

/** Places for files that are used again and again: a request that names a place need not look for its file. */
export class FileTable {
  readonly #ring: Ring;
  readonly #memory = mapMemory({ length: 64 });
  readonly #words = this.#memory.int32;
  readonly #free: number[] = [];

  constructor(ring: Ring) {
    this.#ring = ring;
    const size = sizes.find((count) => this.#create(count)) ?? 0;
    // One by one: V8 makes a slow dictionary of an array that is created with so many places.
    for (let place = size - 1; place >= 0; place--) this.#free.push(place);
  }

  /** Its place; -1 when there is none for it. */
  add(fd: number): number {
    const place = this.#free.pop();
    if (place === undefined) return -1;
    if (this.#put(place, fd)) return place;
    this.#free.push(place);
    return -1;
  }

  remove(place: number): void {
    this.#put(place, nobody);
    this.#free.push(place);
  }

  #create(count: number): boolean {
    this.#words.fill(0);
    this.#words[0] = count;
    this.#words[1] = sparse;
    return this.#register(registration.files, 32);
  }

  #put(place: number, fd: number): boolean {
    const fdsAt = 32;
    this.#words[0] = place;
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
