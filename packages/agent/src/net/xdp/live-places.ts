import { signatureBytes } from '../packet/frame/signature.ts';
import type { ClockedPlaces, CoveringChecksum, OutletSizes } from '../packet/tx-path.ts';
import { createSharedArray, type SharedArray } from './bpf.ts';

/** What stands before each frame, in bytes: its length, how its signature is stamped, when it is due. */
export const placeAt = { length: 0, stamp: 4, due: 8, frame: 16 } as const;
/** Bits of the stamp above those of the place of the checksum. */
export const stampBit = { isWanted: 0x1_0000, isUdp: 0x2_0000, isOdd: 0x4_0000 } as const;

const wordValues = 4_294_967_296;

// Of two lines both are used. More are an odd number: where only the first and the last are written, frames at even
// distances would crowd into a few lines of the processor's cache.
const twoLines = 128;
const strideOf = (bytes: number): number => {
  const pairs = Math.ceil((placeAt.frame + bytes) / twoLines);
  return pairs === 1 ? twoLines : pairs * twoLines + 64;
};

/** The clock of programs in the kernel, in nanoseconds, at a moment of `performance.now`. Exact for a hundred days. */
const createKernelClock = (): ((ms: number) => number) => {
  const originNs = Number(process.hrtime.bigint()) - performance.now() * 1e6;
  return (ms) => Math.round(originNs + ms * 1e6);
};

/** Frames in memory that programs in the kernel read. */
export class LivePlaces implements ClockedPlaces {
  readonly count: number;
  readonly bytes: Buffer;
  readonly array: SharedArray;
  readonly clockAt = createKernelClock();
  readonly #mostBytes: number;
  readonly #words: Int32Array;

  constructor({ count, bytes }: OutletSizes) {
    this.count = count;
    this.#mostBytes = bytes;
    this.array = createSharedArray(count, strideOf(bytes));
    this.bytes = this.array.memory.bytes;
    this.#words = this.array.memory.int32;
  }

  offsetOf(place: number): number {
    return place * this.array.stride + placeAt.frame;
  }

  setLength(place: number, bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#mostBytes))
      throw new RangeError(`a frame of ${bytes} bytes does not fit its place`);
    this.#words[(place * this.array.stride + placeAt.length) >> 2] = bytes;
  }

  setStamp(place: number, checksum: CoveringChecksum | undefined): void {
    const word = (place * this.array.stride + placeAt.length) >> 2;
    const length = this.#words[word] as number;
    if (length < signatureBytes || (checksum?.at ?? 0) + 2 > length)
      throw new RangeError(`there is no room for a signature in ${length} bytes`);
    const kind = (checksum?.isUdp ? stampBit.isUdp : 0) | (length % 2 === 0 ? 0 : stampBit.isOdd);
    this.#words[word + 1] = stampBit.isWanted | kind | (checksum?.at ?? 0);
  }

  setDue(place: number, at: number): void {
    const word = (place * this.array.stride + placeAt.due) >> 2;
    const ns = at === 0 ? 0 : this.clockAt(at);
    this.#words[word] = ns | 0;
    this.#words[word + 1] = Math.floor(ns / wordValues);
  }

  /** 0: at once. */
  dueNs(place: number): number {
    const word = (place * this.array.stride + placeAt.due) >> 2;
    return (this.#words[word + 1] as number) * wordValues + ((this.#words[word] as number) >>> 0);
  }
}
