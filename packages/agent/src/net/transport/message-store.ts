import { type Memory, mapMemory } from '../kernel/memory.ts';
import type { Message } from './transport.ts';

const slabBytes = 65_536;
const alignment = 64;

/** Keeps bytes where the kernel can read them for as long as the transport lives. */
export class MessageStore {
  readonly #memories: Memory[] = [];
  readonly #known = new WeakMap<Uint8Array, Message>();
  #slab: Memory | undefined;
  #used = 0;

  keep(bytes: Uint8Array): Message {
    const known = this.#known.get(bytes);
    if (known !== undefined) return known;
    const message = this.#store(bytes);
    this.#known.set(bytes, message);
    return message;
  }

  /** Only once nothing is being sent any more. */
  release(): void {
    for (const memory of this.#memories) memory.release();
    this.#memories.length = 0;
    this.#slab = undefined;
  }

  #store(bytes: Uint8Array): Message {
    const { length } = bytes;
    if (length === 0) return { bytes, address: 0 };
    const { memory, offset } = length > slabBytes / 4 ? { memory: this.#map(length), offset: 0 } : this.#place(length);
    // Fresh memory is zero. Left untouched, all of it is one page to the processor, and sending it costs half.
    if (memory === this.#slab || bytes.some((byte) => byte !== 0)) memory.bytes.set(bytes, offset);
    return { bytes: memory.bytes.subarray(offset, offset + length), address: memory.addressOf(offset, length) };
  }

  #place(length: number): { memory: Memory; offset: number } {
    if (this.#slab === undefined || this.#used + length > slabBytes) {
      this.#slab = this.#map(slabBytes);
      this.#used = 0;
    }
    const offset = this.#used;
    this.#used = Math.ceil((offset + length) / alignment) * alignment;
    return { memory: this.#slab, offset };
  }

  #map(length: number): Memory {
    const memory = mapMemory({ length });
    this.#memories.push(memory);
    return memory;
  }
}
