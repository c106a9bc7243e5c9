import { type Memory, mapMemory } from '../kernel/memory.ts';
import type { Message } from './transport.ts';

const blockBytes = 16_384;
const slabBlocks = 64;
// From this size on, copying costs more than a separate system call.
const directBytes = 8192;

interface Block {
  readonly memory: Memory;
  readonly offset: number;
}

const freeBlocks: Block[] = [];

const takeBlock = (): Block => {
  if (freeBlocks.length === 0) {
    const memory = mapMemory({ length: blockBytes * slabBlocks });
    for (let index = 0; index < slabBlocks; index++) freeBlocks.push({ memory, offset: index * blockBytes });
  }
  return freeBlocks.pop() as Block;
};

/** Unsent data of one connection, as chunks of memory the kernel can read. Small messages are combined. */
export class SendQueue {
  /** The unsent rest of the current chunk. */
  address = 0;
  length = 0;
  #first: Message | undefined;
  #more: Message[] | undefined;
  /** Bytes of `#first` already copied out. */
  #offset = 0;
  #block: Block | undefined;

  push(message: Message): void {
    if (this.#first === undefined) this.#first = message;
    else if (this.#more === undefined) this.#more = [message];
    else this.#more.push(message);
  }

  /** True if nothing is queued beyond the current chunk. */
  get isDrained(): boolean {
    return this.#first === undefined;
  }

  /** Loads the next chunk; false if there is none. */
  load(): boolean {
    if (this.length > 0) return true;
    const first = this.#first;
    if (first === undefined) return false;
    if (first.address !== 0 && (this.#more === undefined || first.bytes.length >= directBytes)) {
      this.address = first.address + this.#offset;
      this.length = first.bytes.length - this.#offset;
      this.#offset = 0;
      this.#first = this.#takeNext();
      return this.length > 0 || this.load();
    }
    return this.#gather();
  }

  /** `count` bytes of the chunk were sent. */
  advance(count: number): void {
    this.address += count;
    this.length -= count;
  }

  /** Discards everything. The kernel must no longer read from it. */
  clear(): void {
    this.length = 0;
    this.#first = undefined;
    this.#more = undefined;
    if (this.#block !== undefined) freeBlocks.push(this.#block);
    this.#block = undefined;
  }

  #takeNext(): Message | undefined {
    const next = this.#more?.shift();
    if (this.#more?.length === 0) this.#more = undefined;
    return next;
  }

  #gather(): boolean {
    this.#block ??= takeBlock();
    const { memory, offset } = this.#block;
    let filled = 0;
    while (this.#first !== undefined && filled < blockBytes) {
      const { bytes } = this.#first;
      const part = bytes.subarray(this.#offset, this.#offset + blockBytes - filled);
      memory.bytes.set(part, offset + filled);
      filled += part.length;
      this.#offset += part.length;
      if (this.#offset < bytes.length) break;
      this.#offset = 0;
      this.#first = this.#takeNext();
    }
    this.address = memory.addressOf(offset, filled);
    this.length = filled;
    return filled > 0;
  }
}
