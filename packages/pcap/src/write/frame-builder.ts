import { putU16, putU32 } from '../bytes.ts';
import { checksumOf, pseudoHeaderSum, sumOf } from '../checksum.ts';
import { TCP, UDP } from '../dissect/frame.ts';
import { parseAddress } from '../dissect/ip-address.ts';

/** Both ends of an IP packet, as text. */
export interface Endpoints {
  readonly src: string;
  readonly dst: string;
}

export interface IpFields extends Endpoints {
  readonly protocol: number;
  readonly id?: number;
  readonly ttl?: number;
  /** In bytes, a multiple of 8. */
  readonly fragmentOffset?: number;
  readonly moreFragments?: boolean;
}

export interface TcpFields extends Endpoints {
  readonly srcPort: number;
  readonly dstPort: number;
  readonly seq: number;
  readonly ack?: number;
  readonly flags: number;
  readonly window?: number;
}

export interface UdpFields extends Endpoints {
  readonly srcPort: number;
  readonly dstPort: number;
}

/** Ethernet frame around an IP packet or any other payload, with the VLAN tags given from outer to inner. */
export function ethernetFrame(
  payload: Uint8Array,
  fields: { etherType?: number; vlans?: readonly number[]; srcMac?: number; dstMac?: number } = {},
): Uint8Array {
  const vlans = fields.vlans ?? [];
  const frame = new Uint8Array(14 + vlans.length * 4 + payload.length);
  putMac(frame, 0, fields.dstMac ?? 2);
  putMac(frame, 6, fields.srcMac ?? 1);
  let at = 12;
  for (const [index, vlan] of vlans.entries()) {
    putU16(frame, at, index < vlans.length - 1 ? 0x88a8 : 0x8100);
    putU16(frame, at + 2, vlan);
    at += 4;
  }
  putU16(frame, at, fields.etherType ?? ((payload[0] as number) >>> 4 === 6 ? 0x86dd : 0x0800));
  frame.set(payload, at + 2);
  return frame;
}

/** IPv4 or IPv6 packet, whichever the addresses are. */
export function ipPacket(payload: Uint8Array, fields: IpFields): Uint8Array {
  const [src, dst] = [parseAddress(fields.src), parseAddress(fields.dst)];
  return src.length === 4 ? ipv4Packet(payload, fields, src, dst) : ipv6Packet(payload, fields, src, dst);
}

/** IP packet with a TCP segment and right checksums. */
export function tcpPacket(payload: Uint8Array, fields: TcpFields): Uint8Array {
  const segment = new Uint8Array(20 + payload.length);
  putU16(segment, 0, fields.srcPort);
  putU16(segment, 2, fields.dstPort);
  putU32(segment, 4, fields.seq);
  putU32(segment, 8, fields.ack ?? 0);
  putU16(segment, 12, 0x5000 | fields.flags);
  putU16(segment, 14, fields.window ?? 64_240);
  segment.set(payload, 20);
  putU16(segment, 16, transportChecksum(segment, fields, TCP));
  return ipPacket(segment, { ...fields, protocol: TCP });
}

/** UDP header and payload with a right checksum, to be put into an IP packet or into fragments. */
export function udpDatagram(payload: Uint8Array, fields: UdpFields): Uint8Array {
  const datagram = new Uint8Array(8 + payload.length);
  putU16(datagram, 0, fields.srcPort);
  putU16(datagram, 2, fields.dstPort);
  putU16(datagram, 4, datagram.length);
  datagram.set(payload, 8);
  putU16(datagram, 6, transportChecksum(datagram, fields, UDP) || 0xffff);
  return datagram;
}

export function udpPacket(payload: Uint8Array, fields: UdpFields): Uint8Array {
  return ipPacket(udpDatagram(payload, fields), { ...fields, protocol: UDP });
}

function ipv4Packet(payload: Uint8Array, fields: IpFields, src: Uint8Array, dst: Uint8Array): Uint8Array {
  const packet = new Uint8Array(20 + payload.length);
  packet[0] = 0x45;
  putU16(packet, 2, packet.length);
  putU16(packet, 4, fields.id ?? 0);
  putU16(packet, 6, ((fields.fragmentOffset ?? 0) >>> 3) | (fields.moreFragments === true ? 0x2000 : 0));
  packet[8] = fields.ttl ?? 64;
  packet[9] = fields.protocol;
  packet.set(src, 12);
  packet.set(dst, 16);
  putU16(packet, 10, checksumOf(sumOf(packet, 0, 20)));
  packet.set(payload, 20);
  return packet;
}

function ipv6Packet(payload: Uint8Array, fields: IpFields, src: Uint8Array, dst: Uint8Array): Uint8Array {
  const isFragment = fields.fragmentOffset !== undefined || fields.moreFragments === true;
  const extension = isFragment ? 8 : 0;
  const packet = new Uint8Array(40 + extension + payload.length);
  packet[0] = 0x60;
  putU16(packet, 4, extension + payload.length);
  packet[6] = isFragment ? 44 : fields.protocol;
  packet[7] = fields.ttl ?? 64;
  packet.set(src, 8);
  packet.set(dst, 24);
  if (isFragment) {
    packet[40] = fields.protocol;
    putU16(packet, 42, (fields.fragmentOffset ?? 0) | (fields.moreFragments === true ? 1 : 0));
    putU32(packet, 44, fields.id ?? 0);
  }
  packet.set(payload, 40 + extension);
  return packet;
}

function transportChecksum(segment: Uint8Array, ends: Endpoints, protocol: number): number {
  const addresses = Uint8Array.from([...parseAddress(ends.src), ...parseAddress(ends.dst)]);
  return checksumOf(pseudoHeaderSum(addresses, protocol, segment.length) + sumOf(segment, 0, segment.length));
}

/** Locally administered address that ends in `number`. */
function putMac(frame: Uint8Array, at: number, number: number): void {
  frame[at] = 2;
  putU32(frame, at + 2, number);
}
