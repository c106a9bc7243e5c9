import { signatureBytes } from '../packet/frame/signature.ts';
import type { CoveringChecksum, TimedFrameSlots, TxPathOptions } from '../packet/tx-path.ts';
import { createSharedArray, type SharedArray } from './bpf.ts';

/** Offsets in a slot in bytes: length, timestamp flags, due time, frame. */
export const slotOffset = { length: 0, stamp: 4, due: 8, frame: 16 } as const;
/** Flags above the 16 bits of the checksum offset. */
export const stampBit = { isWanted: 0x1_0000, isUdp: 0x2_0000, isOdd: 0x4_0000 } as const;

const wordValues = 4_294_967_296;

// A slot of two cache lines uses both. Larger slots get an odd number: only the first and last lines are written, and
// with even strides they would compete for a few sets of the CPU cache.
const twoLines = 128;
const strideOf = (bytes: number): number => {
  const pairs = Math.ceil((slotOffset.frame + bytes) / twoLines);
  return pairs === 1 ? twoLines : pairs * twoLines + 64;
};

/**
 * Converts times of the `performance.now` clock to the clock of BPF programs, in nanoseconds. Exact for a hundred days.
 */
const createKernelClock = (): ((ms: number) => number) => {
  const originNs = Number(process.hrtime.bigint()) - performance.now() * 1e6;
  return (ms) => Math.round(originNs + ms * 1e6);
};

/** Frame slots in a BPF map. */
export class XdpFrameSlots implements TimedFrameSlots {
  readonly count: number;
  readonly bytes: Buffer;
  readonly array: SharedArray;
  readonly clockAt = createKernelClock();
  readonly #maxBytes: number;
  readonly #words: Int32Array;

  constructor({ count, bytes }: TxPathOptions) {
    this.count = count;
    this.#maxBytes = bytes;
    this.array = createSharedArray(count, strideOf(bytes));
    this.bytes = this.array.memory.bytes;
    this.#words = this.array.memory.int32;
  }

  offsetOf(slot: number): number {
    return slot * this.array.stride + slotOffset.frame;
  }

  setLength(slot: number, bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#maxBytes))
      throw new RangeError(`a frame of ${bytes} bytes does not fit its slot`);
    this.#words[(slot * this.array.stride + slotOffset.length) >> 2] = bytes;
  }

  setStamp(slot: number, checksum: CoveringChecksum | undefined): void {
    const word = (slot * this.array.stride + slotOffset.length) >> 2;
    const length = this.#words[word] as number;
    if (length < signatureBytes || (checksum?.at ?? 0) + 2 > length)
      throw new RangeError(`there is no room for a signature in ${length} bytes`);
    const kind = (checksum?.isUdp ? stampBit.isUdp : 0) | (length % 2 === 0 ? 0 : stampBit.isOdd);
    this.#words[word + 1] = stampBit.isWanted | kind | (checksum?.at ?? 0);
  }

  setDue(slot: number, at: number): void {
    const word = (slot * this.array.stride + slotOffset.due) >> 2;
    const ns = at === 0 ? 0 : this.clockAt(at);
    this.#words[word] = ns | 0;
    this.#words[word + 1] = Math.floor(ns / wordValues);
  }

  /** 0: immediately. */
  dueNs(slot: number): number {
    const word = (slot * this.array.stride + slotOffset.due) >> 2;
    return (this.#words[word + 1] as number) * wordValues + ((this.#words[word] as number) >>> 0);
  }
}
