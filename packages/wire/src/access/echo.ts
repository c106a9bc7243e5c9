import type { Memory } from '../bytes/memory.ts';
import { icmp4Type, icmpBytes, writeIcmp } from '../icmp/icmp.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { type Ipv4Header, ipv4Bytes } from '../ip/ipv4.ts';
import type { FrameWriter } from './frames.ts';

/** Writes packets into the frame or datagram begun last. */
export type PacketWriter = Pick<FrameWriter, 'memory' | 'writeIpv4'>;

const bodyBytes = 32;
/** Length of the IPv4 packet of an echo request. */
export const echoPacketBytes: number = ipv4Bytes + icmpBytes + bodyBytes;

/** Writes an echo request as an IPv4 packet at `at` of the frame begun last; returns its end. */
export const writeEcho = (
  frames: PacketWriter,
  at: number,
  fields: { source: number; destination: number; word: number; dscp: number },
): number => {
  const end = at + echoPacketBytes;
  const icmp = at + ipv4Bytes;
  frames.memory.bytes.fill(0, icmp, end);
  writeIcmp(frames.memory, icmp, end, { type: icmp4Type.echo, code: 0, word: fields.word, pseudoSum: 0 });
  const { source, destination, dscp } = fields;
  frames.writeIpv4(at, end, { source, destination, protocol: ipProtocol.icmp, tos: dscp << 2 });
  return end;
};

/** Type of an ICMP message in a packet, or -1 if it is none. */
export const icmpTypeOf = ({ view }: Memory, ip: Ipv4Header): number =>
  ip.protocol === ipProtocol.icmp && !ip.isFragment && ip.end - ip.payload >= icmpBytes
    ? view.getUint8(ip.payload)
    : -1;

/** Writes the answer to an echo request `ip` of `memory` at `at` of the frame begun last; returns its end. */
export const writeEchoReply = (frames: PacketWriter, at: number, memory: Memory, ip: Ipv4Header): number => {
  const icmp = at + ipv4Bytes;
  const end = icmp + ip.end - ip.payload;
  frames.memory.bytes.set(memory.bytes.subarray(ip.payload, ip.end), icmp);
  const word = memory.view.getInt32(ip.payload + 4);
  writeIcmp(frames.memory, icmp, end, { type: icmp4Type.echoReply, code: 0, word, pseudoSum: 0 });
  const { source, destination, tos } = ip;
  frames.writeIpv4(at, end, { source: destination, destination: source, protocol: ipProtocol.icmp, tos });
  return end;
};
