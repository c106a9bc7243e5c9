import { checksumOf } from '@rushhour/pcap/checksum';
import { signatureBytes } from './signature.ts';

const headerBytes = { v4: 20, v6: 40 } as const;
const fragmentHeaderBytes = 8;
const fragmentHeader = 44;
const unit = 8;
const moreFragments = 0x2000;

/** The signature is in one piece whatever is left for the last fragment. */
const minPayload = 32;

/** Smallest fragments that a stream can be cut into. */
const minFragmentBytes = (isV6: boolean): number => overheadOf(isV6) + minPayload;

const overheadOf = (isV6: boolean): number => (isV6 ? headerBytes.v6 + fragmentHeaderBytes : headerBytes.v4);

interface FragmentCutterOptions {
  /** Offset of the IP header in every frame. */
  readonly ipAt: number;
  readonly isV6: boolean;
  /** Largest IP packet. */
  readonly maxPacket: number;
}

/** A part of the payload of an IP packet. */
interface Part {
  readonly offset: number;
  readonly length: number;
}

/** Cuts frames into IP fragments. The last one holds the whole signature. */
export class FragmentCutter {
  readonly #ipAt: number;
  readonly #payloadAt: number;
  readonly #isV6: boolean;
  readonly #maxPacket: number;
  readonly #parts = new Map<number, readonly Part[]>();
  #identification: number;

  constructor({ ipAt, isV6, maxPacket }: FragmentCutterOptions, identification: number) {
    if (maxPacket < minFragmentBytes(isV6))
      throw new RangeError(`fragments need at least ${minFragmentBytes(isV6)} bytes`);
    this.#ipAt = ipAt;
    this.#payloadAt = ipAt + (isV6 ? headerBytes.v6 : headerBytes.v4);
    this.#isV6 = isV6;
    this.#maxPacket = maxPacket;
    this.#identification = identification;
  }

  /** Longest frame that leaves for frames of this length. */
  longestOf(frameBytes: number): number {
    return Math.min(frameBytes, this.#ipAt + this.#maxPacket);
  }

  /** Parts that a frame of this length is cut into; a frame that is small enough has none. */
  partsOf(frameBytes: number): readonly Part[] {
    const known = this.#parts.get(frameBytes);
    if (known !== undefined) return known;
    const parts = this.#cut(frameBytes);
    this.#parts.set(frameBytes, parts);
    return parts;
  }

  /** All fragments written until the next call belong to the same packet. */
  next(): void {
    this.#identification = (this.#identification + 1) >>> 0;
  }

  /** Writes one fragment of the frame at `start` of `source`, and returns its length. */
  write(
    source: Buffer,
    start: number,
    part: Part,
    into: { readonly bytes: Buffer; readonly at: number },
    isLast: boolean,
  ) {
    const { bytes, at } = into;
    const payload = this.#payloadAt;
    source.copy(bytes, at, start, start + payload);
    const contentAt = at + payload + (this.#isV6 ? fragmentHeaderBytes : 0);
    const from = start + payload + part.offset;
    source.copy(bytes, contentAt, from, from + part.length);
    if (this.#isV6) this.#writeV6(bytes, at, part, isLast);
    else this.#writeV4(bytes, at, part, isLast);
    return contentAt + part.length - at;
  }

  #cut(frameBytes: number): Part[] {
    const total = frameBytes - this.#payloadAt;
    if (frameBytes - this.#ipAt <= this.#maxPacket) return [];
    const step = Math.floor((this.#maxPacket - overheadOf(this.#isV6)) / unit) * unit;
    const count = Math.ceil(total / step);
    const rest = total - (count - 1) * step;
    // What the fragment before the last gives to it, so that the signature is whole.
    const moved = Math.ceil(Math.max(0, signatureBytes - rest) / unit) * unit;
    return Array.from({ length: count }, (_, index) => {
      const isLast = index === count - 1;
      const offset = index * step - (isLast ? moved : 0);
      const length = isLast ? rest + moved : index === count - 2 ? step - moved : step;
      return { offset, length };
    });
  }

  #writeV4(bytes: Buffer, at: number, { offset, length }: Part, isLast: boolean): void {
    const ip = at + this.#ipAt;
    const checksumAt = ip + 10;
    const values = [
      headerBytes.v4 + length,
      this.#identification & 0xffff,
      (isLast ? 0 : moreFragments) | (offset / unit),
    ];
    // From the checksum that is there: a wrong one stays wrong.
    let sum = ~bytes.readUInt16BE(checksumAt) & 0xffff;
    for (const [index, value] of values.entries()) {
      const field = ip + 2 + index * 2;
      sum += (~bytes.readUInt16BE(field) & 0xffff) + value;
      bytes.writeUInt16BE(value, field);
    }
    bytes.writeUInt16BE(checksumOf(sum), checksumAt);
  }

  #writeV6(bytes: Buffer, at: number, { offset, length }: Part, isLast: boolean): void {
    const ip = at + this.#ipAt;
    const header = at + this.#payloadAt;
    bytes.writeUInt16BE((bytes[ip + 6] as number) << 8, header);
    bytes.writeUInt16BE(offset | (isLast ? 0 : 1), header + 2);
    bytes.writeUInt32BE(this.#identification, header + 4);
    bytes.writeUInt16BE(fragmentHeaderBytes + length, ip + 4);
    bytes[ip + 6] = fragmentHeader;
  }
}
