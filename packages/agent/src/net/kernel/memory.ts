import { SystemError } from './errno.ts';
import { requireLibc } from './libc.ts';

const readWrite = 3;
const sharedPopulated = 0x8001;
const privateAnonymous = 0x22;
const pageBytes = 4096;
const failed = 2 ** 52;

/** What is mapped: plain memory unless a descriptor says otherwise. */
export interface Mapping {
  readonly length: number;
  readonly fd?: number;
  readonly offset?: number;
}

/**
 * Memory outside the heap that the kernel may read and write. Whoever hands out an address keeps the memory until the
 * kernel is done with it: the garbage collector knows nothing of addresses.
 */
export class Memory {
  readonly bytes: Buffer;
  readonly length: number;
  readonly #base: number;
  readonly #buffer: ArrayBuffer;
  #isReleased = false;

  constructor(base: number, length: number, buffer: ArrayBuffer) {
    this.#base = base;
    this.length = length;
    this.#buffer = buffer;
    this.bytes = Buffer.from(buffer);
  }

  /** The address of a part. Refuses what does not lie wholly inside. */
  addressOf(offset: number, length: number): number {
    const isInside = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length >= 0;
    if (this.#isReleased || !isInside || offset + length > this.length) {
      throw new RangeError(`${length} bytes at ${offset} do not lie in memory of ${this.length} bytes`);
    }
    return this.#base + offset;
  }

  get int32(): Int32Array {
    return new Int32Array(this.#buffer);
  }
  get uint16(): Uint16Array {
    return new Uint16Array(this.#buffer);
  }
  get uint64(): BigUint64Array {
    return new BigUint64Array(this.#buffer);
  }

  /** Gives the memory back. Views of it become empty, so that nothing can be reached through them any more. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#buffer.transfer(0);
    requireLibc().munmap(this.#base, this.length);
  }
}

export const mapMemory = ({ length, fd = -1, offset = 0 }: Mapping): Memory => {
  if (!Number.isSafeInteger(length) || length <= 0) throw new RangeError(`${length} bytes cannot be mapped`);
  const libc = requireLibc();
  const whole = Math.ceil(length / pageBytes) * pageBytes;
  const flags = fd < 0 ? privateAnonymous : sharedPopulated;
  const base = libc.mmap(0, whole, readWrite, flags, fd, offset);
  if (base < 0 || base > failed) throw new SystemError('mmap', libc.errno());
  return new Memory(base, whole, libc.view(base, whole));
};

/** Writes an address as the kernel reads it. */
export const writeAddress = (words: Int32Array, index: number, address: number): void => {
  words[index] = address | 0;
  words[index + 1] = (address / 4_294_967_296) | 0;
};
