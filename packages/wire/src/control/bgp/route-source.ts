import { parseAddress } from '../../ip/address.ts';
import type { MessageWriter } from '../message-writer.ts';
import type { PathAttributes } from './attributes.ts';
import { type BgpFamily, familyOf } from './families.ts';

/** Routes of one family that share their attributes, written by index. */
export interface RouteSource {
  readonly family: BgpFamily;
  readonly count: number;
  /** Largest route in bytes, without a path id. */
  readonly maxBytes: number;
  /** Next hop as the family writes it. */
  readonly nextHop: Uint8Array;
  readonly attributes: PathAttributes;
  /** Writes route `index`; `isWithdrawn`: as a withdrawal has it. */
  write(writer: MessageWriter, index: number, isWithdrawn: boolean): void;
}

export interface GeneratedPrefixes {
  readonly family: BgpFamily;
  /** `10.0.0.0/24`: the first prefix; the others follow it without a gap. */
  readonly first: string;
  /** Prefixes between the first one and route 0. */
  readonly offset: number;
  readonly count: number;
  readonly nextHop: Uint8Array;
  readonly attributes: PathAttributes;
  /** Of labelled and VPN routes. */
  readonly firstLabel?: number;
  /** 8 bytes, of VPN routes. */
  readonly distinguisher?: Uint8Array;
}

const withdrawnLabel = 0x800000;
const lastLabel = 0xfffff;
const firstFreeLabel = 16;

/** Address of prefix `index`: the first one plus `index` steps of 2^(bits of the address − length). */
class PrefixSequence {
  readonly bits: number;
  readonly #words: Int32Array;
  readonly #wordOfStep: number;
  readonly #shift: number;
  readonly #address = new Int32Array(4);

  constructor(first: string, addressBits: number) {
    const [text = '', length] = first.split('/');
    const words = parseAddress(text);
    this.bits = Number(length);
    this.#words = addressBits === 32 ? words.slice(3) : words;
    this.#wordOfStep = this.bits === 0 ? -1 : (this.bits - 1) >> 5;
    this.#shift = 31 - ((this.bits - 1) & 31);
  }

  /** Words of the address; valid until the next call. */
  at(index: number): Int32Array {
    const address = this.#address;
    address.set(this.#words);
    let word = this.#wordOfStep;
    if (word < 0) return address;
    const step = index * 2 ** this.#shift;
    let carry = Math.floor(step / 2 ** 32);
    let sum = ((address[word] as number) >>> 0) + (step % 2 ** 32);
    for (;;) {
      address[word] = sum % 2 ** 32;
      carry += Math.floor(sum / 2 ** 32);
      if (carry === 0 || word === 0) return address;
      word--;
      sum = ((address[word] as number) >>> 0) + (carry % 2 ** 32);
      carry = Math.floor(carry / 2 ** 32);
    }
  }
}

/** How many prefixes follow the first one in its address space, itself included. */
export const prefixRoom = (first: string): number => {
  const [address = '', length] = first.split('/');
  const words = parseAddress(address);
  const isV4 = !address.includes(':');
  const bits = Number(length);
  let index = 0;
  for (let word = isV4 ? 3 : 0, left = bits; left > 0; word++, left -= 32) {
    const value = (words[word] as number) >>> 0;
    index = left >= 32 ? index * 2 ** 32 + value : index * 2 ** left + Math.floor(value / 2 ** (32 - left));
  }
  return 2 ** bits - index;
};

/** Prefixes computed from their index: nothing is stored for them. */
export const createPrefixSource = (options: GeneratedPrefixes): RouteSource => {
  const { family, first, offset, count, nextHop, attributes, distinguisher, firstLabel = firstFreeLabel } = options;
  const prefixes = new PrefixSequence(first, family.addressBits);
  const addressBytes = (prefixes.bits + 7) >> 3;
  const isLabeled = family.form === 'labeled' || family.form === 'vpn';
  const isVpn = family.form === 'vpn';
  const before = (isLabeled ? 3 : 0) + (isVpn ? 8 : 0);
  const isFlowspec = family.form === 'flowspec';
  const writeAddress = (writer: MessageWriter, index: number): void => {
    const words = prefixes.at(offset + index);
    const at = writer.reserve(addressBytes);
    for (let i = 0; i < addressBytes; i++) writer.bytes[at + i] = (words[i >> 2] as number) >>> (24 - (i & 3) * 8);
  };
  return {
    family,
    count,
    nextHop,
    attributes,
    maxBytes: 1 + before + addressBytes + (isFlowspec ? 3 : 0),
    write(writer, index, isWithdrawn) {
      if (isFlowspec) {
        // One component: the destination prefix (RFC 8955; with an offset of 0 for IPv6, RFC 8956).
        const isV6 = family.addressBits === 128;
        writer
          .u8(addressBytes + (isV6 ? 3 : 2))
          .u8(1)
          .u8(prefixes.bits);
        if (isV6) writer.u8(0);
      } else writer.u8(prefixes.bits + before * 8);
      if (isLabeled) {
        const label = firstLabel + (index % (lastLabel + 1 - firstLabel));
        writer.u24(isWithdrawn ? withdrawnLabel : (label << 4) | 1);
      }
      if (isVpn && distinguisher !== undefined) writer.copy(distinguisher);
      writeAddress(writer, index);
    },
  };
};

/** Next hop of a family: with a route distinguisher of zero for VPNs; none for flow specifications. */
export const nextHopOf = ({ form }: BgpFamily, address: Uint8Array): Uint8Array => {
  if (form === 'flowspec') return new Uint8Array(0);
  if (form !== 'vpn') return address;
  const bytes = new Uint8Array(8 + address.length);
  bytes.set(address, 8);
  return bytes;
};

export const plainUnicast = familyOf('ipv4-unicast');
