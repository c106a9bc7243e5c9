import { copyOf } from '../../bytes/memory.ts';
import type { MessageWriter } from '../message-writer.ts';

// Addresses as messages of PIM carry them (RFC 7761, section 4.9.1), with 4 or 16 bytes.

const families: Readonly<Record<number, number>> = { 1: 4, 2: 16 };

/** Groups of a message: one, or a range of them. */
export interface EncodedGroup {
  readonly address: Uint8Array;
  readonly bits: number;
  readonly isBidirectional?: boolean;
}

export const sourceFlag = { sparse: 4, wildcard: 2, rendezvousTree: 1 } as const;

/** A source, or the rendezvous point where `flags` has the wildcard bit. */
export interface EncodedSource {
  readonly address: Uint8Array;
  readonly flags: number;
}

const familyOf = (address: Uint8Array): number => (address.length === 4 ? 1 : 2);

export const writeUnicast = (writer: MessageWriter, address: Uint8Array): MessageWriter =>
  writer.u8(familyOf(address)).u8(0).copy(address);

export const writeGroup = (writer: MessageWriter, { address, bits, isBidirectional }: EncodedGroup): MessageWriter =>
  writer
    .u8(familyOf(address))
    .u8(0)
    .u8(isBidirectional ? 0x80 : 0)
    .u8(bits)
    .copy(address);

export const writeSource = (writer: MessageWriter, { address, flags }: EncodedSource): MessageWriter =>
  writer
    .u8(familyOf(address))
    .u8(0)
    .u8(flags)
    .u8(address.length * 8)
    .copy(address);

/** Walks over a message; throws a RangeError at its end and where an address is not of the version of the network. */
export class PimReader {
  readonly #bytes: Uint8Array;
  readonly #size: number;
  #at: number;

  /** `size`: bytes of an address. */
  constructor(bytes: Uint8Array, at: number, size: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#size = size;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  number(count: number): number {
    const at = this.#pass(count);
    let value = 0;
    for (let i = 0; i < count; i++) value = value * 256 + (this.#bytes[at + i] as number);
    return value;
  }

  take(count: number): Uint8Array {
    const at = this.#pass(count);
    return copyOf(this.#bytes, at, at + count);
  }

  unicast(): Uint8Array {
    this.#family();
    return this.take(this.#size);
  }

  group(): EncodedGroup {
    this.#family();
    const flags = this.number(1);
    const bits = this.number(1);
    if (bits > this.#size * 8) throw new RangeError('a mask is too long');
    return { address: this.take(this.#size), bits, isBidirectional: (flags & 0x80) !== 0 };
  }

  source(): EncodedSource {
    this.#family();
    const flags = this.number(1) & 7;
    // Only whole addresses are joined (RFC 7761, section 4.9.5.1).
    if (this.number(1) !== this.#size * 8) throw new RangeError('a source is no single address');
    return { address: this.take(this.#size), flags };
  }

  #pass(count: number): number {
    if (count > this.left) throw new RangeError('a message is too short');
    this.#at += count;
    return this.#at - count;
  }

  #family(): void {
    if (families[this.number(1)] !== this.#size || this.number(1) !== 0)
      throw new RangeError('an address is of another version');
  }
}
