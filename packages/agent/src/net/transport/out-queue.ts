import { type Memory, mapMemory } from '../kernel/memory.ts';
import type { Message } from './transport.ts';

const blockBytes = 16_384;
const slabBlocks = 64;
// From here on copying costs more than a call of its own.
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

/** What one connection has to send, as pieces of memory the kernel can read. Small pieces are put together. */
export class OutQueue {
  /** The piece that is being sent: where its rest begins and how long it is. */
  address = 0;
  length = 0;
  #first: Message | undefined;
  #more: Message[] | undefined;
  /** How much of `#first` has been copied out. */
  #offset = 0;
  #block: Block | undefined;

  push(message: Message): void {
    if (this.#first === undefined) this.#first = message;
    else if (this.#more === undefined) this.#more = [message];
    else this.#more.push(message);
  }

  /** True when nothing is left beyond the piece being sent. */
  get isDrained(): boolean {
    return this.#first === undefined;
  }

  /** Makes the next piece ready; false when there is none. */
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

  /** So many bytes of the piece have been sent. */
  advance(count: number): void {
    this.address += count;
    this.length -= count;
  }

  /** No more is sent, and the kernel reads nothing of it any longer. */
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
