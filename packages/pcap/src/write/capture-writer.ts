import { PcapError } from '../pcap-error.ts';
import type { CaptureFormat } from '../read/capture-format.ts';
import { MAX_PACKET_BYTES } from '../read/capture-format.ts';

export interface WriterOptions {
  readonly format: CaptureFormat;
  /** The one link type of a pcap file; pcapng describes each link type when it first comes. */
  readonly linkType: number;
  readonly snapLen?: number;
}

export interface WritablePacket {
  readonly seconds: number;
  readonly nanoseconds: number;
  readonly bytes: Uint8Array;
  /** Offset and number of the captured bytes; all of `bytes` if absent. */
  readonly start?: number;
  readonly length?: number;
  /** Length on the wire, when more than was captured. */
  readonly wireLength?: number;
  readonly linkType?: number;
}

const SECTION_BYTES = 28;
const INTERFACE_BYTES = 32;
const FIRST_CAPACITY = 4096;

/** Writes little-endian capture files piece by piece: `add` packets, `take` what has been made so far. */
export class CaptureWriter {
  readonly #options: Required<WriterOptions>;
  readonly #interfaces = new Map<number, number>();
  #buffer = new Uint8Array(FIRST_CAPACITY);
  #view = new DataView(this.#buffer.buffer);
  #size = 0;

  constructor(options: WriterOptions) {
    this.#options = { snapLen: MAX_PACKET_BYTES, ...options };
    if (options.format === 'pcapng') this.#section();
    else this.#fileHeader();
  }

  /** Bytes waiting to be taken. */
  get size(): number {
    return this.#size;
  }

  add(packet: WritablePacket): void {
    const start = packet.start ?? 0;
    const bytes = packet.bytes.subarray(start, start + (packet.length ?? packet.bytes.length - start));
    const linkType = packet.linkType ?? this.#options.linkType;
    if (this.#options.format === 'pcapng') this.#enhancedPacket(packet, bytes, linkType);
    else this.#record(packet, bytes, linkType);
  }

  /** What was written since the last call, as a buffer of its own. */
  take(): Uint8Array {
    const taken = this.#buffer.slice(0, this.#size);
    this.#size = 0;
    return taken;
  }

  #fileHeader(): void {
    const at = this.#reserve(24);
    this.#words(at, [this.#options.format === 'pcap-ns' ? 0xa1b23c4d : 0xa1b2c3d4, 0x00040002, 0, 0]);
    this.#words(at + 16, [this.#options.snapLen, this.#options.linkType]);
  }

  #record(packet: WritablePacket, bytes: Uint8Array, linkType: number): void {
    if (linkType !== this.#options.linkType) {
      throw new PcapError('LINKTYPE_MIX', 'A pcap file holds one link type; write pcapng to mix them.');
    }
    const at = this.#reserve(16 + bytes.length);
    const fraction = this.#options.format === 'pcap-ns' ? packet.nanoseconds : Math.floor(packet.nanoseconds / 1000);
    this.#words(at, [packet.seconds, fraction, bytes.length, Math.max(bytes.length, packet.wireLength ?? 0)]);
    this.#buffer.set(bytes, at + 16);
  }

  #section(): void {
    const at = this.#reserve(SECTION_BYTES);
    // The section length is left open: all ones.
    this.#words(at, [0x0a0d0d0a, SECTION_BYTES, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, SECTION_BYTES]);
  }

  /** Times of every interface are nanoseconds (if_tsresol 9). */
  #interface(linkType: number): number {
    const known = this.#interfaces.get(linkType);
    if (known !== undefined) return known;
    const at = this.#reserve(INTERFACE_BYTES);
    this.#words(at, [1, INTERFACE_BYTES, linkType, this.#options.snapLen, 0x00010009, 9, 0, INTERFACE_BYTES]);
    this.#interfaces.set(linkType, this.#interfaces.size);
    return this.#interfaces.size - 1;
  }

  #enhancedPacket(packet: WritablePacket, bytes: Uint8Array, linkType: number): void {
    const id = this.#interface(linkType);
    const padding = -bytes.length & 3;
    const length = 32 + bytes.length + padding;
    const at = this.#reserve(length);
    const [high, low] = nanosecondTicks(packet.seconds, packet.nanoseconds);
    this.#words(at, [6, length, id, high, low, bytes.length, Math.max(bytes.length, packet.wireLength ?? 0)]);
    this.#buffer.set(bytes, at + 28);
    this.#buffer.fill(0, at + 28 + bytes.length, at + 28 + bytes.length + padding);
    this.#view.setUint32(at + length - 4, length, true);
  }

  #words(at: number, words: readonly number[]): void {
    for (const [index, word] of words.entries()) this.#view.setUint32(at + index * 4, word, true);
  }

  #reserve(count: number): number {
    const at = this.#size;
    if (at + count > this.#buffer.length) {
      const larger = new Uint8Array((at + count) * 2);
      larger.set(this.#buffer.subarray(0, at));
      this.#buffer = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#size += count;
    return at;
  }
}

/** Exact for any time, unlike one multiplication in floating point. */
function nanosecondTicks(seconds: number, nanoseconds: number): [number, number] {
  const ticks =
    BigInt(Math.max(0, Math.floor(seconds))) * 1_000_000_000n + BigInt(Math.max(0, Math.floor(nanoseconds)));
  return [Number((ticks >> 32n) & 0xffffffffn), Number(ticks & 0xffffffffn)];
}
