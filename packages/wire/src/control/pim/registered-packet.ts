import { checksumOf, sumBytes } from '../../bytes/checksum.ts';
import { copyOf, Memory } from '../../bytes/memory.ts';

const pimNumber = 103;
const udpNumber = 17;
const udpBytes = 8;
const payloadBytes = 32;
const ttl = 64;
/** Discard. */
const port = 9;

/** Sum of addresses, protocol and length. */
const pseudoSum = (source: Uint8Array, group: Uint8Array, protocol: number, length: number): number => {
  const bytes = new Uint8Array(2 * source.length);
  bytes.set(source);
  bytes.set(group, source.length);
  return sumBytes(new Memory(bytes), 0, bytes.length) + protocol + length;
};

const writeHeader4 = (memory: Memory, source: Uint8Array, group: Uint8Array, protocol: number): void => {
  const { bytes, view } = memory;
  view.setUint16(0, 0x4500);
  view.setUint16(2, bytes.length);
  view.setUint8(8, ttl);
  view.setUint8(9, protocol);
  bytes.set(source, 12);
  bytes.set(group, 16);
  view.setUint16(10, checksumOf(sumBytes(memory, 0, 20)));
};

const writeHeader6 = ({ bytes, view }: Memory, source: Uint8Array, group: Uint8Array, protocol: number): void => {
  view.setUint8(0, 0x60);
  view.setUint16(4, bytes.length - 40);
  view.setUint8(6, protocol);
  view.setUint8(7, ttl);
  bytes.set(source, 8);
  bytes.set(group, 24);
};

/**
 * The packet inside a register: a header alone that says source and group (RFC 7761, section 4.9.3), or a small UDP
 * datagram.
 */
export const registeredPacket = (source: Uint8Array, group: Uint8Array, isNull: boolean): Uint8Array => {
  const isV4 = source.length === 4;
  const head = isV4 ? 20 : 40;
  // With IPv6 the header is followed by a header of PIM that holds nothing but a checksum.
  const body = isNull ? (isV4 ? 0 : 4) : udpBytes + payloadBytes;
  const memory = new Memory(new Uint8Array(head + body));
  const { view } = memory;
  const protocol = isNull ? pimNumber : udpNumber;
  if (isV4) writeHeader4(memory, source, group, protocol);
  else writeHeader6(memory, source, group, protocol);
  if (!isNull) {
    view.setUint16(head, port);
    view.setUint16(head + 2, port);
    view.setUint16(head + 4, body);
  }
  if (body === 0) return memory.bytes;
  const sum = checksumOf(pseudoSum(source, group, protocol, body) + sumBytes(memory, head, head + body));
  view.setUint16(head + (isNull ? 2 : 6), sum === 0 && !isNull ? 0xffff : sum);
  return memory.bytes;
};

/** Source and group of a packet inside a register; undefined: it is none. */
export const findRegistered = (
  packet: Uint8Array,
): { readonly source: Uint8Array; readonly group: Uint8Array } | undefined => {
  const version = (packet[0] ?? 0) >>> 4;
  if (version === 4 && packet.length >= 20) return { source: copyOf(packet, 12, 16), group: copyOf(packet, 16, 20) };
  if (version === 6 && packet.length >= 40) return { source: copyOf(packet, 8, 24), group: copyOf(packet, 24, 40) };
  return undefined;
};
