import { SystemError } from './errno.ts';
import { requireLibc } from './libc.ts';

let memory: Memory | undefined;

/** A page for the arguments of one call at a time on this thread. Its content does not outlive the call. */
export const scratch = (): Memory => {
  memory ??= mapMemory({ length: 4096 });
  return memory;
};

const readWrite = 3;
const sharedPopulated = 0x8001;
const privateAnonymous = 0x22;
const pageBytes = 4096;
const failed = 2 ** 52;
const dontNeed = 4;

/** What to map: anonymous memory unless there is a descriptor. */
export interface Mapping {
  readonly length: number;
  readonly fd?: number;
  readonly offset?: number;
}

/** What is mapped, by the buffer of its views. */
const mapped = new WeakMap<ArrayBufferLike, Memory>();

/** The address of the first of the bytes; undefined for those of the heap, which the garbage collector may move. */
export const addressOfBytes = ({ buffer, byteOffset }: Uint8Array): number | undefined => {
  const address = mapped.get(buffer)?.address;
  return address === undefined ? undefined : address + byteOffset;
};

/**
 * Memory outside the heap that the kernel may read and write. Code that passes an address to the kernel keeps the
 * memory until the kernel is done with it: the garbage collector does not know about addresses.
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
    mapped.set(buffer, this);
  }

  /** The address of the first byte, while it is mapped. */
  get address(): number | undefined {
    return this.#isReleased ? undefined : this.#base;
  }

  /** The address of a part. Throws if it is not entirely inside. */
  addressOf(offset: number, length: number): number {
    const isInside = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length >= 0;
    if (this.#isReleased || !isInside || offset + length > this.length) {
      throw new RangeError(`${length} bytes at ${offset} are outside of memory of ${this.length} bytes`);
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

  /** Gives the kernel the pages of a part that holds nothing; they are zero when they are used again. */
  discard(offset: number, length: number): void {
    requireLibc().madvise(this.addressOf(offset, length), length, dontNeed);
  }

  /** Unmaps the memory. Its views are detached, so that it cannot be reached through them. */
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

/** Writes a 64-bit address. */
export const writeAddress = (words: Int32Array, index: number, address: number): void => {
  words[index] = address | 0;
  words[index + 1] = (address / 4_294_967_296) | 0;
};
