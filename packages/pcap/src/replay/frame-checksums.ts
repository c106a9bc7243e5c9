import { putU16, u8, u16 } from '../bytes.ts';
import { adjustedChecksum, checksumOf, pseudoHeaderSum, sumOf } from '../checksum.ts';
import { addressBytesOf, type Frame, TCP, UDP } from '../dissect/frame.ts';
import type { ClientAddress } from './replay-rules.ts';

const ICMP = 1;
const ICMPV6 = 58;
const NOTHING = new Uint8Array(0);

/** Where the checksum of what IP carries stands; 0 when there is none to set. */
export function transportChecksumOffset(frame: Frame): number {
  const { protocol, transportStart, captured, fragmentOffset, ipVersion, bytes } = frame;
  const relative = protocol === TCP ? 16 : protocol === UDP ? 6 : protocol === ICMP || protocol === ICMPV6 ? 2 : -1;
  if (ipVersion === 0 || relative < 0 || fragmentOffset > 0 || relative + 2 > captured) return 0;
  const offset = transportStart + relative;
  // A datagram over IPv4 may do without.
  return protocol === UDP && ipVersion === 4 && u16(bytes, offset) === 0 ? 0 : offset;
}

/** Sum of the addresses and ports: the part of the checksum that rewriting changes. */
export function endsSum(frame: Frame): number {
  const { bytes, source, destination, transportStart } = frame;
  const size = addressBytesOf(frame);
  const ports = frame.hasPorts ? u16(bytes, transportStart) + u16(bytes, transportStart + 2) : 0;
  return sumOf(bytes, source, source + size) + sumOf(bytes, destination, destination + size) + ports;
}

export function setIpv4Checksum(bytes: Uint8Array, at: number): void {
  const length = (u8(bytes, at) & 15) * 4;
  putU16(bytes, at + 10, 0);
  putU16(bytes, at + 10, checksumOf(sumOf(bytes, at, at + length)));
}

/** Recomputes the checksum. For a first fragment it is adjusted by the change of `endsSum` since `before`. */
export function setTransportChecksum(frame: Frame, before: number): void {
  const { bytes, protocol, transportStart: start } = frame;
  const offset = transportChecksumOffset(frame);
  if (offset === 0) return;
  if (frame.isFragment) {
    if (protocol !== ICMP) write(bytes, offset, adjustedChecksum(u16(bytes, offset), before, endsSum(frame)), protocol);
    return;
  }
  const size = addressBytesOf(frame);
  const length = protocol === UDP && frame.hasPorts ? frame.payloadLength + 8 : frame.transportLength;
  const addresses = protocol === ICMP ? NOTHING : bytes.subarray(frame.source, frame.source + 2 * size);
  putU16(bytes, offset, 0);
  const pseudo = protocol === ICMP ? 0 : pseudoHeaderSum(addresses, protocol, length);
  write(bytes, offset, checksumOf(pseudo + sumOf(bytes, start, start + length)), protocol);
}

function write(bytes: Uint8Array, offset: number, checksum: number, protocol: number): void {
  putU16(bytes, offset, protocol === UDP && checksum === 0 ? 0xffff : checksum);
}

/** Replaces an address in a frame and adjusts the checksums that cover it. */
export function replaceAddress(
  bytes: Uint8Array,
  start: number,
  target: Omit<ClientAddress, 'index'>,
  address: Uint8Array,
): void {
  const at = start + target.at;
  const before = sumOf(bytes, at, at + target.size);
  bytes.set(address, at);
  const after = sumOf(bytes, at, at + target.size);
  for (const checksum of target.checksums) adjust(bytes, start + checksum, before, after);
  if (target.inverse !== undefined) adjust(bytes, start + target.inverse, after, before);
}

function adjust(bytes: Uint8Array, offset: number, before: number, after: number): void {
  // Zero and all ones are the same number; a datagram without checksum is not.
  putU16(bytes, offset, adjustedChecksum(u16(bytes, offset), before, after) || 0xffff);
}
