import { MessageWriter } from '../message-writer.ts';
import { type Tlv, tlvOf, tlvType } from './pdu.ts';

/** Segment routing over MPLS (RFC 8667). */
export interface Segments {
  /** The global block: labels that all routers use alike. */
  readonly blockStart: number;
  readonly blockSize: number;
  /** Index in the block of the emulated router; those behind it follow. */
  readonly firstIndex: number;
}

const subTlv = { label: 1, capabilities: 2, prefixSid: 3, algorithms: 19 } as const;
const ipv4Flag = 0x80;
const nodeFlag = 0x40;
const shortestPath = 0;
const hasSubTlvs = 0x40;
const hostMetric = 0;

/** What a router can do and its block of labels. */
const capabilityTlv = (routerId: number, { blockStart, blockSize }: Segments): Tlv =>
  tlvOf(tlvType.capability, (writer) => {
    writer.u32(routerId).u8(0);
    writer.u8(subTlv.capabilities).u8(9).u8(ipv4Flag).u24(blockSize).u8(subTlv.label).u8(3).u24(blockStart);
    writer.u8(subTlv.algorithms).u8(1).u8(shortestPath);
  });

/** The router id as a prefix, with the index of the router. */
const nodeReachability = (routerId: number, index: number): Uint8Array => {
  const writer = new MessageWriter(24)
    .u32(hostMetric)
    .u8(hasSubTlvs | 32)
    .u32(routerId);
  return writer.u8(8).u8(subTlv.prefixSid).u8(6).u8(nodeFlag).u8(shortestPath).u32(index).take();
};

/** TLVs of router `n`, where 0 is the emulated one. */
export const segmentTlvs = (segments: Segments, routerId: number, n: number): Tlv[] => [
  capabilityTlv(routerId, segments),
  { type: tlvType.reachableIpv4, value: nodeReachability(routerId, segments.firstIndex + n) },
];
