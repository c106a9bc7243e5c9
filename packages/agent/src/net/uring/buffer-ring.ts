import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import type { Chunk } from '../transport/transport.ts';
import type { Ring } from './ring.ts';
import { registration } from './ring-layout.ts';

export interface BufferSizes {
  readonly group: number;
  /** A power of two. */
  readonly count: number;
  /** Number of buffers in use at least: the fewer circulate, the better they stay in the CPU cache. */
  readonly first: number;
  readonly bytes: number;
}

/** The part of the share of full buffers that each received one renews. */
const renewal = 1 / 32;
/** From this share of full buffers on, data arrives in bulk. */
const bulkShare = 0.5;
/** Connections that may find no buffer, for each in use, with bulk data: to ask again costs less than a cold cache. */
const waitersPerBuffer = 2;

/**
 * Buffers that the kernel picks on receipt, so that idle connections hold none. Small messages use as many as arrive at
 * once, bulk data no more than stay in the CPU cache. The memory is never freed: the kernel may write to it as long as
 * the ring exists.
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
  #used = 0;
  /** Number of buffers that have been in use; those that no longer are, are spare. */
  #touched = 0;
  readonly #spare: number[] = [];
  /** Receptions without a buffer since `publish`. */
  #missing = 0;
  #fullShare = 0;

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

  /** Number of buffers that the kernel has, or that hold data. */
  get inUse(): number {
    return this.#used;
  }

  /** Received data in a buffer; always the same object. */
  chunkOf(id: number, length: number, now: number): Chunk {
    const chunk = this.#chunk;
    this.#fullShare += ((length === this.#sizes.bytes ? 1 : 0) - this.#fullShare) * renewal;
    chunk.start = id * this.#sizes.bytes;
    chunk.end = chunk.start + length;
    chunk.now = now;
    chunk.address = this.#address + chunk.start;
    return chunk;
  }

  /** Returns a buffer; the kernel may use it after `publish`. */
  giveBack(id: number): void {
    if (this.#used > this.#sizes.first && this.#fullShare > bulkShare && this.#missing === 0) {
      this.#used--;
      this.#spare.push(id);
    } else this.#offer(id);
  }

  #offer(id: number): void {
    const at = (this.#tail & (this.#sizes.count - 1)) << 2;
    writeAddress(this.#words, at, this.#memory.addressOf(id * this.#sizes.bytes, this.#sizes.bytes));
    this.#words[at + 2] = this.#sizes.bytes;
    this.#halves[(at << 1) + 6] = id;
    this.#tail = (this.#tail + 1) & 0xffff;
  }

  /** The kernel had no buffer for a connection that has data: `publish` may double the number in use, up to all. */
  ranOut(): void {
    this.#missing++;
  }

  publish(): void {
    const allowed = this.#fullShare > bulkShare ? waitersPerBuffer * this.#used : 0;
    if (this.#missing > allowed) this.#use(Math.min(this.#sizes.count, 2 * this.#used));
    this.#missing = 0;
    if (this.#tail === this.#published) return;
    this.#published = this.#tail;
    Atomics.store(this.#tailHalf, 7, (this.#tail << 16) >> 16);
  }

  #use(count: number): void {
    for (; this.#used < count; this.#used++) this.#offer(this.#spare.pop() ?? this.#touched++);
  }
}
