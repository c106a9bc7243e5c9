import { u8, u16 } from '../bytes.ts';
import type { Frame } from '../frame.ts';

const ICMP = 1;
const ICMPV6 = 58;
const ICMP_ERRORS = new Set([3, 4, 5, 11, 12]);
const ICMPV6_ERRORS = new Set([1, 2, 3, 4]);
const NEIGHBOUR_SOLICITATION = 135;
const NEIGHBOUR_ADVERTISEMENT = 136;

/** Header of the packet that an ICMP error tells of. */
export interface QuotedPacket {
  readonly size: 4 | 16;
  readonly source: number;
  readonly destination: number;
  /** Place of its header checksum; 0 where there is none. */
  readonly checksum: number;
}

export function quotedPacket(frame: Frame): QuotedPacket | undefined {
  const { bytes, transportStart, captured, protocol, isFragment } = frame;
  const at = transportStart + 8;
  if (isFragment || captured < 28) return undefined;
  const type = u8(bytes, transportStart);
  const isV4 = protocol === ICMP && ICMP_ERRORS.has(type) && u8(bytes, at) >>> 4 === 4;
  if (isV4) return { size: 4, source: at + 12, destination: at + 16, checksum: at + 10 };
  const isV6 = protocol === ICMPV6 && ICMPV6_ERRORS.has(type) && captured >= 48 && u8(bytes, at) >>> 4 === 6;
  return isV6 ? { size: 16, source: at + 8, destination: at + 24, checksum: 0 } : undefined;
}

/** Place of the address that neighbour discovery asks or answers for. */
export function solicitedAddress(frame: Frame): number | undefined {
  const { bytes, transportStart: at, captured, protocol, isFragment } = frame;
  if (protocol !== ICMPV6 || isFragment || captured < 24 || u16(bytes, at) % 256 !== 0) return undefined;
  const type = u8(bytes, at);
  return type === NEIGHBOUR_SOLICITATION || type === NEIGHBOUR_ADVERTISEMENT ? at + 8 : undefined;
}
