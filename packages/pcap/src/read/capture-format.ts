import type { Packet, PacketSink } from './packet.ts';

export type CaptureFormat = 'pcap' | 'pcap-ns' | 'pcapng';

/** More than any capture tool writes; a record that claims more is a damaged file. */
export const MAX_PACKET_BYTES = 262_144;

/** Splits one container format into packets. Called again from the same offset when more bytes arrive. */
export interface RecordParser {
  readonly format: CaptureFormat;
  readonly snapLen: number;
  /** Bytes needed from the first unread offset before `consume` can continue. */
  readonly need: number;
  /** Bytes to skip after the returned offset; they may lie beyond the buffer. */
  skip: number;
  readonly isStopped: boolean;
  /** Reads whole records from `bytes[start … end)` and returns the first unread offset. */
  consume(bytes: Uint8Array, view: DataView, start: number, end: number): number;
}

export interface ParserContext {
  readonly packet: Packet;
  readonly sink: PacketSink;
}
