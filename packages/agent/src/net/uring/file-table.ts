import { SystemError } from '../kernel/errno.ts';
import { mapMemory } from '../kernel/memory.ts';
import type { Ring } from './ring.ts';
import { registration } from './ring-layout.ts';

// The kernel allows as many as the process may have files.
const sizes = [32_768, 8192, 1024];
const sparse = 1;
const argumentBytes = 32;

const register = (ring: Ring, count: number): boolean => {
  const argument = mapMemory({ length: argumentBytes });
  argument.bytes.writeUInt32LE(count, 0);
  argument.bytes.writeUInt32LE(sparse, 4);
  try {
    ring.register(registration.files, argument.addressOf(0, argumentBytes), argumentBytes);
    return true;
  } catch (error) {
    if (error instanceof SystemError) return false;
    throw error;
  } finally {
    argument.release();
  }
};

/** Places for sockets that the ring alone knows: opening one takes no call, using one no look-up. */
export class FileTable {
  readonly #free: number[] = [];

  constructor(ring: Ring) {
    const size = sizes.find((count) => register(ring, count)) ?? 0;
    // One by one: V8 makes a slow dictionary of an array that is created with so many places.
    for (let place = size - 1; place >= 0; place--) this.#free.push(place);
  }

  take(): number | undefined {
    return this.#free.pop();
  }

  giveBack(place: number): void {
    this.#free.push(place);
  }
}
