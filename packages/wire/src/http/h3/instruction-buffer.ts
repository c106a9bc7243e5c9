import { copyOf } from '../../bytes/memory.ts';
import { EndsTooEarly, HeaderReader } from '../header-strings.ts';

const maxBytes = 131_072;

/** Splits a stream of instructions, which may arrive in any parts. */
export class InstructionBuffer {
  #rest = new Uint8Array(0);

  /** Calls `read` for each whole instruction. An instruction must change nothing before it was read to its end. */
  feed(bytes: Uint8Array, start: number, end: number, read: (reader: HeaderReader) => void): void {
    const joined = this.#join(bytes, start, end);
    const reader = new HeaderReader(joined.bytes, joined.start, joined.end);
    let done = reader.at;
    try {
      while (!reader.isDone) {
        read(reader);
        done = reader.at;
      }
    } catch (error) {
      if (!(error instanceof EndsTooEarly)) throw error;
      if (joined.end - done > maxBytes) throw new RangeError('an instruction is too long');
    }
    this.#rest = copyOf(joined.bytes, done, joined.end);
  }

  #join(bytes: Uint8Array, start: number, end: number) {
    if (this.#rest.length === 0) return { bytes, start, end };
    const joined = new Uint8Array(this.#rest.length + end - start);
    joined.set(this.#rest);
    joined.set(bytes.subarray(start, end), this.#rest.length);
    return { bytes: joined, start: 0, end: joined.length };
  }
}
