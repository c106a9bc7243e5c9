export interface LiveInterface {
  readonly name: string;
  readonly linkType: number;
  readonly snapLen: number;
}

/** A frame as it passed an interface. */
export interface LiveFrame {
  readonly seconds: number;
  readonly nanoseconds: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly wireLength: number;
  readonly isOutgoing: boolean;
  /** VLAN tag to insert after the MAC addresses: TPID and TCI; −1 for none. */
  readonly tag: number;
}

export interface LiveCounts {
  readonly received: number;
  readonly dropped: number;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

const SECTION_TYPE = 0x0a0d0d0a;
const FRAME_HEAD_BYTES = 28;
/** Flags with their head, the end of the options, and the length again. */
const FRAME_TAIL_BYTES = 16;
const MAC_BYTES = 12;
const TAG_BYTES = 4;
const INBOUND = 1;
const OUTBOUND = 2;
const COUNTS_BYTES = 76;

/** Writes the frames of one interface as a pcapng section into a fixed buffer, without allocating. */
export class LiveWriter {
  readonly #buffer: Buffer;
  readonly #snapLen: number;
  #size = 0;

  constructor(about: LiveInterface, roomBytes: number) {
    this.#buffer = Buffer.alloc(roomBytes);
    this.#snapLen = about.snapLen;
    this.#section();
    this.#interface(about);
  }

  /** Bytes waiting to be taken. */
  get size(): number {
    return this.#size;
  }

  /** Bytes that `add` needs for this frame. */
  bytesOf(frame: LiveFrame): number {
    return FRAME_HEAD_BYTES + ((this.#lengthOf(frame) + 3) & ~3) + FRAME_TAIL_BYTES;
  }

  /** Bytes that `end` needs. */
  get endBytes(): number {
    return COUNTS_BYTES;
  }

  hasRoomFor(frame: LiveFrame): boolean {
    return this.#size + this.bytesOf(frame) + COUNTS_BYTES <= this.#buffer.length;
  }

  /** The buffer must have enough space. */
  add(frame: LiveFrame): void {
    const { tag, start } = frame;
    const tagBytes = tagBytesOf(frame);
    const length = this.#lengthOf(frame);
    const padded = (length + 3) & ~3;
    const total = FRAME_HEAD_BYTES + padded + FRAME_TAIL_BYTES;
    const at = this.#size;
    this.#frameHead(frame, { at, total, length, wireLength: frame.wireLength + tagBytes });
    const data = at + FRAME_HEAD_BYTES;
    if (tagBytes === 0) this.#copy(frame.bytes, start, length, data);
    else {
      this.#copy(frame.bytes, start, Math.min(length, MAC_BYTES), data);
      this.#buffer.writeUInt32BE(tag, data + MAC_BYTES);
      const rest = Math.max(0, length - MAC_BYTES - TAG_BYTES);
      this.#copy(frame.bytes, start + MAC_BYTES, rest, data + MAC_BYTES + TAG_BYTES);
    }
    this.#buffer.fill(0, data + length, data + padded);
    const options = data + padded;
    this.#buffer.writeUInt32LE(0x0004_0002, options);
    this.#buffer.writeUInt32LE(frame.isOutgoing ? OUTBOUND : INBOUND, options + 4);
    this.#buffer.writeUInt32LE(0, options + 8);
    this.#buffer.writeUInt32LE(total, options + 12);
    this.#size = at + total;
  }

  /** Ends the section with the interface statistics. */
  end({ received, dropped, from, to }: LiveCounts): void {
    const at = this.#size;
    const [nowHigh, nowLow] = millisecondTicks(to);
    const [fromHigh, fromLow] = millisecondTicks(from);
    this.#words(at, 5, COUNTS_BYTES, 0, nowHigh, nowLow);
    this.#words(at + 20, 0x0008_0002, fromHigh, fromLow);
    this.#words(at + 32, 0x0008_0003, nowHigh, nowLow);
    this.#words(at + 44, 0x0008_0004, received % 2 ** 32, Math.floor(received / 2 ** 32));
    this.#words(at + 56, 0x0008_0005, dropped % 2 ** 32, Math.floor(dropped / 2 ** 32));
    this.#words(at + 68, 0, COUNTS_BYTES);
    this.#size = at + COUNTS_BYTES;
  }

  /** The pending bytes, valid until the next `add`; frees the buffer. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#size);
    this.#size = 0;
    return taken;
  }

  #lengthOf(frame: LiveFrame): number {
    return Math.min(frame.end - frame.start + tagBytesOf(frame), this.#snapLen);
  }

  #section(): void {
    this.#words(0, SECTION_TYPE, 28, 0x1a2b3c4d, 1, 0xffff_ffff, 0xffff_ffff, 28);
    this.#size = 28;
  }

  #interface({ name, linkType, snapLen }: LiveInterface): void {
    const text = Buffer.from(name);
    const padded = (text.length + 3) & ~3;
    const total = 20 + 4 + padded + 8 + 4;
    const at = this.#size;
    this.#words(at, 1, total, linkType, snapLen, 0x0000_0002 | (text.length << 16));
    this.#buffer.set(text, at + 20);
    // Times are nanoseconds.
    this.#words(at + 20 + padded, 0x0001_0009, 9, 0, total);
    this.#size = at + total;
  }

  #frameHead(
    { seconds, nanoseconds }: LiveFrame,
    of: { readonly at: number; readonly total: number; readonly length: number; readonly wireLength: number },
  ): void {
    const buffer = this.#buffer;
    const low = ticksBelow(seconds, nanoseconds);
    buffer.writeUInt32LE(6, of.at);
    buffer.writeUInt32LE(of.total, of.at + 4);
    buffer.writeUInt32LE(0, of.at + 8);
    buffer.writeUInt32LE(ticksAbove(seconds, low), of.at + 12);
    buffer.writeUInt32LE(low % 2 ** 32, of.at + 16);
    buffer.writeUInt32LE(of.length, of.at + 20);
    buffer.writeUInt32LE(Math.max(of.wireLength, of.length), of.at + 24);
  }

  #copy(bytes: Uint8Array, start: number, length: number, to: number): void {
    this.#buffer.set(bytes.subarray(start, start + length), to);
  }

  #words(at: number, ...words: number[]): void {
    for (const [index, word] of words.entries()) this.#buffer.writeUInt32LE(word, at + index * 4);
  }
}

const tagBytesOf = ({ tag, start, end }: LiveFrame) => (tag >= 0 && end - start >= MAC_BYTES ? TAG_BYTES : 0);

// Nanoseconds since 1970 have more bits than a number is exact for: seconds are taken apart at 2^16, the product at 2^32.
const upperProduct = (seconds: number) => Math.floor(seconds / 65_536) * 1e9;

/** The part below 2^32, with what it carries over. */
const ticksBelow = (seconds: number, nanoseconds: number) =>
  (upperProduct(seconds) % 65_536) * 65_536 + (seconds % 65_536) * 1e9 + nanoseconds;

const ticksAbove = (seconds: number, low: number) =>
  Math.floor(upperProduct(seconds) / 65_536) + Math.floor(low / 2 ** 32);

const millisecondTicks = (ms: number): [number, number] => {
  const seconds = Math.floor(ms / 1000);
  const low = ticksBelow(seconds, Math.round((ms - seconds * 1000) * 1e6));
  return [ticksAbove(seconds, low), low % 2 ** 32];
};
