import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import type { Chunk } from '../transport/transport.ts';
import type { Ring } from './ring.ts';
import { registration } from './ring-layout.ts';

export interface BufferSizes {
  readonly group: number;
  /** A power of two. */
  readonly count: number;
  /** Number of buffers in use at first: the fewer circulate, the better they stay in the CPU cache. */
  readonly first: number;
  readonly bytes: number;
}

/**
 * Buffers that the kernel picks on receipt, so that idle connections hold none. The memory is never freed: the kernel
 * may write to it as long as the ring exists.
 */
export class BufferRing {
  readonly group: number;
  readonly #chunk: { readonly bytes: Buffer; start: number; end: number; now: number; address: number };
  readonly #address: number;
  readonly #sizes: BufferSizes;
  readonly #memory: Memory;
  readonly #words: Int32Array;
  readonly #halves: Uint16Array;
  readonly #tailHalf: Int16Array;
  #tail = 0;
  #published = 0;
  /** Number of buffers in use. */
  #used = 0;
  #hasGrown = false;

  constructor(ring: Ring, sizes: BufferSizes) {
    this.group = sizes.group;
    this.#sizes = sizes;
    this.#memory = mapMemory({ length: sizes.count * sizes.bytes });
    this.#chunk = { bytes: this.#memory.bytes, start: 0, end: 0, now: 0, address: 0 };
    this.#address = this.#memory.addressOf(0, sizes.count * sizes.bytes);
    const entries = mapMemory({ length: sizes.count * 16 });
    this.#words = entries.int32;
    this.#halves = entries.uint16;
    this.#tailHalf = new Int16Array(this.#halves.buffer);
    const argument = mapMemory({ length: 40 });
    writeAddress(argument.int32, 0, entries.addressOf(0, sizes.count * 16));
    argument.bytes.writeUInt32LE(sizes.count, 8);
    argument.bytes.writeUInt16LE(sizes.group, 12);
    ring.register(registration.bufferRing, argument.addressOf(0, 40), 1);
    argument.release();
    this.#use(sizes.first);
    this.publish();
  }

  /** Received data in a buffer; always the same object. */
  chunkOf(id: number, length: number, now: number): Chunk {
    const chunk = this.#chunk;
    chunk.start = id * this.#sizes.bytes;
    chunk.end = chunk.start + length;
    chunk.now = now;
    chunk.address = this.#address + chunk.start;
    return chunk;
  }

  /** Returns a buffer; the kernel may use it after `publish`. */
  giveBack(id: number): void {
    const at = (this.#tail & (this.#sizes.count - 1)) << 2;
    writeAddress(this.#words, at, this.#memory.addressOf(id * this.#sizes.bytes, this.#sizes.bytes));
    this.#words[at + 2] = this.#sizes.bytes;
    this.#halves[(at << 1) + 6] = id;
    this.#tail = (this.#tail + 1) & 0xffff;
  }

  /** The kernel ran out of buffers: doubles the number in use, up to all. At most once before each `publish`. */
  grow(): void {
    if (!this.#hasGrown) this.#use(Math.min(this.#sizes.count, 2 * this.#used));
    this.#hasGrown = true;
  }

  publish(): void {
    this.#hasGrown = false;
    if (this.#tail === this.#published) return;
    this.#published = this.#tail;
    Atomics.store(this.#tailHalf, 7, (this.#tail << 16) >> 16);
  }

  #use(count: number): void {
    while (this.#used < count) this.giveBack(this.#used++);
  }
}
