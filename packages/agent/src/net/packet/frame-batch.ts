import { errno, SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import type { FramePlaces } from './tx-path.ts';

const headerBytes = 64;
const vectorBytes = 16;
const dontWait = 0x40;

// An odd number of lines: frames at even distances would crowd into a few lines of the processor's cache.
const strideOf = (bytes: number): number => (Math.ceil(bytes / 128) * 2 + 1) * 64;

/** Frames that leave in one call. They are written in place and stay there, so that only what changes is written anew. */
export class FrameBatch implements FramePlaces {
  readonly count: number;
  readonly bytes: Buffer;
  readonly #memory: Memory;
  readonly #words: Int32Array;
  readonly #stride: number;
  readonly #mostBytes: number;
  readonly #libc = requireLibc();

  constructor({ count, bytes }: { readonly count: number; readonly bytes: number }) {
    this.count = count;
    this.#mostBytes = bytes;
    this.#stride = strideOf(bytes);
    this.#memory = mapMemory({ length: count * (headerBytes + vectorBytes + this.#stride) });
    this.bytes = this.#memory.bytes;
    this.#words = this.#memory.int32;
    for (let index = 0; index < count; index++) {
      const vector = count * headerBytes + index * vectorBytes;
      writeAddress(this.#words, vector >> 2, this.#memory.addressOf(this.offsetOf(index), bytes));
      writeAddress(this.#words, ((index * headerBytes) >> 2) + 4, this.#memory.addressOf(vector, vectorBytes));
      this.#words[((index * headerBytes) >> 2) + 6] = 1;
    }
  }

  offsetOf(index: number): number {
    return this.count * (headerBytes + vectorBytes) + index * this.#stride;
  }

  setLength(index: number, bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#mostBytes))
      throw new RangeError(`a frame of ${bytes} bytes does not fit its place`);
    this.#words[((this.count * headerBytes + index * vectorBytes) >> 2) + 2] = bytes;
  }

  /** Sends frames from `first` to before `end`. Says how many were taken, or as a negative number why none was. */
  send(fd: number, first: number, end: number): number {
    const count = end - first;
    const sent = this.#libc.sendmmsg(
      fd,
      this.#memory.addressOf(first * headerBytes, count * headerBytes),
      count,
      dontWait,
    );
    return sent >= 0 ? sent : -this.#libc.errno();
  }

  release(): void {
    this.#memory.release();
  }
}

/** No room now, which passes; everything else is an error of the device. */
export const isFull = (result: number): boolean => result === -errno.ENOBUFS || result === -errno.EAGAIN;

/** Sends one frame, such as a question to a neighbour. */
export const sendFrame = (fd: number, frame: Uint8Array): void => {
  const batch = new FrameBatch({ count: 1, bytes: frame.length });
  try {
    batch.bytes.set(frame, batch.offsetOf(0));
    batch.setLength(0, frame.length);
    const result = batch.send(fd, 0, 1);
    if (result < 0 && !isFull(result)) throw new SystemError('sendmmsg', -result);
  } finally {
    batch.release();
  }
};
