import { u8, u16 } from '../bytes.ts';
import { dissect } from '../dissect/dissect.ts';
import { addressBytesOf, Frame } from '../dissect/frame.ts';
import { formatAddress } from '../dissect/ip-address.ts';
import { ETHERTYPE_ARP } from '../dissect/link-layer.ts';
import type { PacketSink } from '../read/packet.ts';

/** Offsets of source and destination address in a frame. */
export interface FrameEnds {
  readonly source: number;
  readonly destination: number;
  readonly size: 4 | 16;
}

/** Of IP and of ARP between IPv4 addresses; undefined for everything else. */
export function findEnds(frame: Frame): FrameEnds | undefined {
  if (frame.ipVersion !== 0)
    return { source: frame.source, destination: frame.destination, size: addressBytesOf(frame) };
  if (!isIpv4Arp(frame)) return undefined;
  return { source: frame.networkStart + 14, destination: frame.networkStart + 24, size: 4 };
}

export function isIpv4Arp(frame: Frame): boolean {
  const { bytes, networkStart: at, end } = frame;
  const isWhole = frame.etherType === ETHERTYPE_ARP && at + 28 <= end;
  return isWhole && u16(bytes, at + 2) === 0x0800 && u16(bytes, at + 4) === 0x0604;
}

/** Addresses that are not rewritten: multicast, broadcast, unspecified and link-local. */
export function isSpecial(bytes: Uint8Array, at: number, size: 4 | 16): boolean {
  const first = u8(bytes, at);
  if (size === 4) return first >= 224 || first === 0;
  if (first === 0xff || (u16(bytes, at) & 0xffc0) === 0xfe80) return true;
  for (let index = 0; index < 16; index++) if (bytes[at + index] !== 0) return false;
  return true;
}

export type DestinationSet = Set<string>;

/** Collects destination addresses as text, without multicast and link-local ones. */
export function destinationsInto(found: DestinationSet): PacketSink {
  const frame = new Frame();
  return (packet) => {
    dissect(frame, packet);
    const ends = findEnds(frame);
    if (ends !== undefined && !isSpecial(frame.bytes, ends.destination, ends.size))
      found.add(formatAddress(frame.bytes, ends.destination, ends.size));
    return true;
  };
}
