import { frameFlag, frameHeaderBytes, frameType } from './h2-frame.ts';

const firstBytes = 1024;

/** Frames to send, collected until they are flushed. */
export class H2Output {
  #bytes = new Uint8Array(firstBytes);
  #length = 0;
  readonly #write: (bytes: Uint8Array) => void;
  readonly #flushAt: number;

  /** `write` copies the bytes before it returns. */
  constructor(write: (bytes: Uint8Array) => void, flushAt = 65_536) {
    this.#write = write;
    this.#flushAt = flushAt;
  }

  flush(): void {
    if (this.#length === 0) return;
    const length = this.#length;
    this.#length = 0;
    this.#write(this.#bytes.subarray(0, length));
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    this.#head(payload.length, type, flags, stream);
    this.raw(payload);
    if (this.#length >= this.#flushAt) this.flush();
  }

  /** A frame with a single number. */
  numberFrame(type: number, stream: number, value: number): void {
    this.#head(4, type, 0, stream);
    this.#uint32(value);
  }

  /** Headers, split where they are longer than a frame. */
  headers(stream: number, block: Uint8Array, { isEnd, maxBytes }: { isEnd: boolean; maxBytes: number }): void {
    const first = block.subarray(0, maxBytes);
    const flags = (isEnd ? frameFlag.endStream : 0) | (first.length === block.length ? frameFlag.endHeaders : 0);
    this.frame(frameType.headers, flags, stream, first);
    for (let at = first.length; at < block.length; at += maxBytes) {
      const part = block.subarray(at, at + maxBytes);
      const isLast = at + part.length === block.length;
      this.frame(frameType.continuation, isLast ? frameFlag.endHeaders : 0, stream, part);
    }
  }

  settings(values: readonly (readonly [id: number, value: number])[]): void {
    this.#head(values.length * 6, frameType.settings, 0, 0);
    for (const [id, value] of values) {
      this.#bytes[this.#length++] = id >>> 8;
      this.#bytes[this.#length++] = id;
      this.#uint32(value);
    }
  }

  goaway(lastStream: number, code: number): void {
    this.#head(8, frameType.goaway, 0, 0);
    this.#uint32(lastStream);
    this.#uint32(code);
  }

  #head(length: number, type: number, flags: number, stream: number): void {
    this.#reserve(frameHeaderBytes + length);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = length >>> 16;
    bytes[at++] = length >>> 8;
    bytes[at++] = length;
    bytes[at++] = type;
    bytes[at++] = flags;
    this.#length = at;
    this.#uint32(stream);
  }

  #uint32(value: number): void {
    const bytes = this.#bytes;
    bytes[this.#length++] = value >>> 24;
    bytes[this.#length++] = value >>> 16;
    bytes[this.#length++] = value >>> 8;
    bytes[this.#length++] = value;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
