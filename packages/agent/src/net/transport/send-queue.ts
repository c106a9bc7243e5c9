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

/** Keeps the memory of a few blocks that are not in use, and gives that of the others back to the kernel. */
export const discardFreeBlocks = (): void => {
  for (const { memory, offset } of freeBlocks.slice(0, -slabBlocks)) memory.discard(offset, blockBytes);
};

/**
 * Unsent data of one connection, as chunks of memory the kernel can read. Small messages are combined in a block, which
 * is held only while there is something to send.
 */
export class SendQueue {
  /** The unsent rest of the current chunk. */
  address = 0;
  length = 0;
  #first: Message | undefined;
  #more: Message[] | undefined;
  /** Bytes of `#first` already copied out. */
  #offset = 0;
  #block: Block | undefined;
  /** Bytes of the block that the kernel may still read. */
  #filled = 0;
  /** The chunk that was loaded last is no part of the block. */
  #isDirect = false;

  push(message: Message): void {
    if (this.#first === undefined) this.#first = message;
    else if (this.#more === undefined) this.#more = [message];
    else this.#more.push(message);
  }

  /** Copies bytes to the end of the current chunk; false if they have to be pushed. */
  append(bytes: Uint8Array): boolean {
    if (this.#first !== undefined || this.#isDirect || bytes.length > blockBytes - this.#filled) return false;
    this.#block ??= takeBlock();
    const { memory, offset } = this.#block;
    memory.bytes.set(bytes, offset + this.#filled);
    if (this.length === 0) this.address = memory.addressOf(offset + this.#filled, bytes.length);
    this.length += bytes.length;
    this.#filled += bytes.length;
    return true;
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
      this.#isDirect = true;
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

  /** The last `count` bytes were not sent after all. False if they are gone. */
  retract(count: number): boolean {
    if (!this.#isDirect && this.#filled === 0) return false;
    this.address -= count;
    this.length += count;
    return true;
  }

  /** The kernel has read everything that was loaded: the block can serve others. */
  settle(): void {
    if (this.length > 0) return;
    this.#isDirect = false;
    this.#filled = 0;
    if (this.#block === undefined) return;
    freeBlocks.push(this.#block);
    this.#block = undefined;
  }

  /** Discards everything. The kernel must no longer read from it. */
  clear(): void {
    this.length = 0;
    this.#first = undefined;
    this.#more = undefined;
    this.settle();
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
    this.#filled = filled;
    this.#isDirect = false;
    return filled > 0;
  }
}
