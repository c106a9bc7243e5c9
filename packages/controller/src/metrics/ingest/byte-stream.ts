const maxWhole = 2 ** 50;
const maxScale = 2 ** 49;

/** Writes numbers as short as they are: seven bits a byte, the eighth says that more follow. */
export class ByteWriter {
  #bytes = new Uint8Array(4096);
  #length = 0;

  /** Forgets what was written; writers are large and made to be used again. */
  restart(): this {
    this.#length = 0;
    return this;
  }

  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Whole numbers with their sign; everything else as it is in memory. Read back it is the same number. */
  number(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) <= maxWhole && !Object.is(value, -0)) {
      this.varint(value >= 0 ? value * 4 : value * -4 - 2);
      return;
    }
    this.varint(1);
    this.#reserve(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value);
    this.#length += 8;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  all({ view }: ByteWriter): void {
    this.raw(view);
  }

  /** What was written, until the next word. */
  get view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads what `ByteWriter` wrote; throws when the bytes end too early. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get at(): number {
    return this.#at;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (this.#at >= this.#end || scale > maxScale) throw new RangeError('packed bytes end inside a number');
      const byte = this.#bytes[this.#at++] as number;
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
    }
  }

  number(): number {
    const code = this.varint();
    if (code === 1) {
      const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset);
      this.#at += 8;
      if (this.#at > this.#end) throw new RangeError('packed bytes end inside a number');
      return view.getFloat64(this.#at - 8);
    }
    return code % 4 === 0 ? code / 4 : -(code + 2) / 4;
  }

  /** A view, not a copy. */
  raw(length: number): Uint8Array {
    if (this.#at + length > this.#end) throw new RangeError('packed bytes end too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
