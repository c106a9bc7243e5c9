import { copyOf } from '../bytes/memory.ts';
import { huffmanLength, readHuffman, writeHuffman } from './huffman.ts';

/** More bytes may make it whole. */
export class EndsTooEarly extends RangeError {}

/** Reads integers and texts of header blocks (RFC 7541, section 5). */
export class HeaderReader {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get isDone(): boolean {
    return this.at >= this.end;
  }

  byte(): number {
    if (this.at >= this.end) throw new EndsTooEarly('the block ends too early');
    return this.bytes[this.at++] as number;
  }

  /** The rest of an integer whose first byte, with `bits` of it, is given. */
  integer(first: number, bits: number): number {
    const limit = (1 << bits) - 1;
    let value = first & limit;
    if (value < limit) return value;
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('the integer is too large');
  }

  /** A text whose first byte has `bits` of its length and, before them, the bit of the Huffman code. */
  text(first = this.byte(), bits = 7): string {
    const isCoded = (first & (1 << bits)) !== 0;
    const length = this.integer(first, bits);
    const start = this.at;
    if (start + length > this.end) throw new EndsTooEarly('a text ends too early');
    this.at += length;
    if (isCoded) return readHuffman(this.bytes, start, this.at);
    let text = '';
    for (let i = start; i < this.at; i++) text += String.fromCharCode(this.bytes[i] as number);
    return text;
  }
}

/** Writes integers and texts of header blocks. */
export class HeaderWriter {
  bytes = new Uint8Array(512);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  /** A copy of what was written. */
  take(): Uint8Array {
    const taken = copyOf(this.bytes, 0, this.length);
    this.length = 0;
    return taken;
  }

  integer(value: number, bits: number, flags: number): void {
    this.#reserve(8);
    const limit = (1 << bits) - 1;
    if (value < limit) {
      this.bytes[this.length++] = flags | value;
      return;
    }
    this.bytes[this.length++] = flags | limit;
    let rest = value - limit;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes[this.length++] = (rest % 128) | 128;
    this.bytes[this.length++] = rest;
  }

  /** By the Huffman code where that is shorter. */
  text(text: string, bits = 7, flags = 0): void {
    const coded = huffmanLength(text);
    const isCoded = coded < text.length;
    this.integer(isCoded ? coded : text.length, bits, flags | (isCoded ? 1 << bits : 0));
    this.#reserve(text.length);
    if (isCoded) this.length = writeHuffman(text, this.bytes, this.length);
    else for (let i = 0; i < text.length; i++) this.bytes[this.length++] = text.charCodeAt(i);
  }

  #reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = new Uint8Array(2 * (this.length + count));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
