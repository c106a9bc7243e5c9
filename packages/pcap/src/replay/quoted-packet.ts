import { u8, u16 } from '../bytes.ts';
import { type Frame, TCP, UDP } from '../dissect/frame.ts';

const ICMP = 1;
const ICMPV6 = 58;
const ICMP_ERRORS = new Set([3, 4, 5, 11, 12]);
const ICMPV6_ERRORS = new Set([1, 2, 3, 4]);
const NEIGHBOUR_SOLICITATION = 135;
const NEIGHBOUR_ADVERTISEMENT = 136;

/** Header of the packet quoted in an ICMP error. */
export interface QuotedPacket {
  readonly size: 4 | 16;
  readonly source: number;
  readonly destination: number;
  /** Offset of its header checksum; 0 if none. */
  readonly checksum: number;
  /** Offset of its transport checksum; 0 if not quoted. */
  readonly transportChecksum: number;
}

/** Of TCP and UDP, when so much is quoted; a datagram over IPv4 may do without. */
function transportChecksumAt({ bytes, transportStart, captured }: Frame, protocol: number, start: number): number {
  const offset = start + (protocol === UDP ? 6 : 16);
  const isQuoted = (protocol === UDP || protocol === TCP) && offset + 2 <= transportStart + captured;
  return isQuoted && u16(bytes, offset) !== 0 ? offset : 0;
}

export function quotedPacket(frame: Frame): QuotedPacket | undefined {
  const { bytes, transportStart, captured, protocol, isFragment } = frame;
  const at = transportStart + 8;
  if (isFragment || captured < 28) return undefined;
  const type = u8(bytes, transportStart);
  const isV4 = protocol === ICMP && ICMP_ERRORS.has(type) && u8(bytes, at) >>> 4 === 4;
  if (isV4) {
    const transportChecksum = transportChecksumAt(frame, u8(bytes, at + 9), at + (u8(bytes, at) & 15) * 4);
    return { size: 4, source: at + 12, destination: at + 16, checksum: at + 10, transportChecksum };
  }
  const isV6 = protocol === ICMPV6 && ICMPV6_ERRORS.has(type) && captured >= 48 && u8(bytes, at) >>> 4 === 6;
  if (!isV6) return undefined;
  const transportChecksum = transportChecksumAt(frame, u8(bytes, at + 6), at + 40);
  return { size: 16, source: at + 8, destination: at + 24, checksum: 0, transportChecksum };
}

/** Offset of the target address of neighbour discovery. */
export function solicitedAddress(frame: Frame): number | undefined {
  const { bytes, transportStart: at, captured, protocol, isFragment } = frame;
  if (protocol !== ICMPV6 || isFragment || captured < 24 || u16(bytes, at) % 256 !== 0) return undefined;
  const type = u8(bytes, at);
  return type === NEIGHBOUR_SOLICITATION || type === NEIGHBOUR_ADVERTISEMENT ? at + 8 : undefined;
}
