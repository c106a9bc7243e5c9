import { copyOf } from '../bytes/memory.ts';
/** Builds a message in memory that grows. Numbers are big-endian. */
export class MessageWriter {
  bytes: Uint8Array;
  view: DataView;
  length = 0;

  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
    this.view = new DataView(this.bytes.buffer);
  }

  clear(): this {
    this.length = 0;
    return this;
  }

  u8(value: number): this {
    const at = this.reserve(1);
    this.bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.reserve(2);
    this.view.setUint16(at, value);
    return this;
  }

  u24(value: number): this {
    const at = this.reserve(3);
    this.bytes[at] = value >>> 16;
    this.view.setUint16(at + 1, value & 0xffff);
    return this;
  }

  u32(value: number): this {
    const at = this.reserve(4);
    this.view.setUint32(at, value >>> 0);
    return this;
  }

  copy(bytes: Uint8Array): this {
    const at = this.reserve(bytes.length);
    this.bytes.set(bytes, at);
    return this;
  }

  zeros(count: number): this {
    const at = this.reserve(count);
    this.bytes.fill(0, at, at + count);
    return this;
  }

  /** Room for `count` bytes at the end; returns where it starts. */
  reserve(count: number): number {
    const at = this.length;
    this.length = at + count;
    if (this.length > this.bytes.length) this.#grow();
    return at;
  }

  /** The message so far, in memory of its own. */
  take(): Uint8Array {
    return copyOf(this.bytes, 0, this.length);
  }

  #grow(): void {
    let capacity = this.bytes.length * 2;
    while (capacity < this.length) capacity *= 2;
    const bytes = new Uint8Array(capacity);
    bytes.set(this.bytes);
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }
}
