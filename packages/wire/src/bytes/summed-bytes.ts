import { foldSum, sumBytes, swap16 } from './checksum.ts';
import { Memory } from './memory.ts';

const blockShift = 6;

/** Bytes that never change, with sums of all blocks up to each: the sum of any part of them costs little. */
export class SummedBytes {
  readonly bytes: Uint8Array;
  readonly #memory: Memory;
  /** Sums of the 16-bit words before each block, in the order of `sumBytes` before its swap, modulo 2^32. */
  readonly #before: Uint32Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#memory = new Memory(bytes);
    const blocks = bytes.length >> blockShift;
    this.#before = new Uint32Array(blocks + 1);
    for (let block = 0, sum = 0; block < blocks; block++) {
      const at = block << blockShift;
      sum = (sum + swap16(sumBytes(this.#memory, at, at + (1 << blockShift)))) >>> 0;
      this.#before[block + 1] = sum;
    }
  }

  /** What `sumBytes` returns, for up to 64 KiB. */
  sumOf(start: number, end: number): number {
    const first = (start + (1 << blockShift) - 1) >> blockShift;
    const last = end >> blockShift;
    if (first >= last) return sumBytes(this.#memory, start, end);
    const blocks = foldSum(((this.#before[last] as number) - (this.#before[first] as number)) >>> 0);
    // Blocks begin at even offsets, so from an odd start their words are the other way round.
    const isOdd = (start & 1) !== 0;
    const tail = sumBytes(this.#memory, last << blockShift, end);
    const head = sumBytes(this.#memory, start, first << blockShift);
    return foldSum(head + (isOdd ? blocks + swap16(tail) : swap16(blocks) + tail));
  }
}
