import type { MessageWriter } from '../message-writer.ts';
import { PrefixSequence } from '../prefix-sequence.ts';
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

/** Prefixes computed from their index: nothing is stored for them. */
export const createPrefixSource = (options: GeneratedPrefixes): RouteSource => {
  const { family, first, offset, count, nextHop, attributes, distinguisher, firstLabel = firstFreeLabel } = options;
  const prefixes = new PrefixSequence(first);
  const addressBytes = (prefixes.bits + 7) >> 3;
  const firstWord = prefixes.isV4 ? 3 : 0;
  const isLabeled = family.form === 'labeled' || family.form === 'vpn';
  const isVpn = family.form === 'vpn';
  const before = (isLabeled ? 3 : 0) + (isVpn ? 8 : 0);
  const isFlowspec = family.form === 'flowspec';
  const writeAddress = (writer: MessageWriter, index: number): void => {
    const words = prefixes.at(offset + index);
    const at = writer.reserve(addressBytes);
    for (let i = 0; i < addressBytes; i++)
      writer.bytes[at + i] = (words[firstWord + (i >> 2)] as number) >>> (24 - (i & 3) * 8);
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
