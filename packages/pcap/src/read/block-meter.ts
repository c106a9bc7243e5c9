const BLOCK_HEAD_BYTES = 8;
/** Of an enhanced packet: type, length, interface and both halves of its time. */
const TIMED_HEAD_BYTES = 20;
const PACKET_TYPE = 6;
const MIN_BLOCK_BYTES = 12;

/** Follows the blocks of a little-endian pcapng file whose times are nanoseconds, as it comes in pieces. */
export class BlockMeter {
  /** Where the last whole block ends; what follows is cut off or damaged. */
  wholeBytes = 0;
  packets = 0;
  /** Of the first and last whole packet, milliseconds since 1970. */
  firstMs: number | undefined;
  lastMs: number | undefined;
  readonly #head = Buffer.alloc(TIMED_HEAD_BYTES);
  #headBytes = 0;
  #seen = 0;
  #isDamaged = false;

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && !this.#isDamaged) {
      const wanted = this.#headBytes < BLOCK_HEAD_BYTES ? BLOCK_HEAD_BYTES : Math.min(TIMED_HEAD_BYTES, this.#length);
      if (this.#headBytes < wanted) {
        const taken = Math.min(wanted - this.#headBytes, chunk.length - at);
        this.#head.set(chunk.subarray(at, at + taken), this.#headBytes);
        this.#headBytes += taken;
        this.#seen += taken;
        at += taken;
        if (this.#headBytes >= BLOCK_HEAD_BYTES && (this.#length < MIN_BLOCK_BYTES || this.#length % 4 !== 0))
          this.#isDamaged = true;
      } else {
        const skipped = Math.min(this.wholeBytes + this.#length - this.#seen, chunk.length - at);
        this.#seen += skipped;
        at += skipped;
      }
      this.#settle();
    }
  }

  get #length(): number {
    return this.#head.readUInt32LE(4);
  }

  #settle(): void {
    if (this.#isDamaged || this.#headBytes < BLOCK_HEAD_BYTES || this.#seen < this.wholeBytes + this.#length) return;
    if (this.#head.readUInt32LE(0) === PACKET_TYPE) this.#note();
    this.wholeBytes += this.#length;
    this.#headBytes = 0;
  }

  #note(): void {
    this.packets += 1;
    const ticks = (BigInt(this.#head.readUInt32LE(12)) << 32n) | BigInt(this.#head.readUInt32LE(16));
    const ms = Number(ticks / 1000n) / 1000;
    this.firstMs ??= ms;
    this.lastMs = ms;
  }
}
