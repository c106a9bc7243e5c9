import type { Packet, PacketSink } from './packet.ts';

export type CaptureFormat = 'pcap' | 'pcap-ns' | 'pcapng';

/** More than any capture tool writes; a record that claims more is a damaged file. */
export const MAX_PACKET_BYTES = 262_144;

/** Cuts one container format into packets. Asked again from the same place when more bytes have come. */
export interface RecordParser {
  readonly format: CaptureFormat;
  readonly snapLen: number;
  /** Bytes that must be there, counted from the unread place, before `consume` can go on. */
  readonly need: number;
  /** Bytes after the returned place that hold nothing of interest and may be beyond the buffer. */
  skip: number;
  readonly isStopped: boolean;
  /** Reads whole records out of `bytes[start … end)` and returns the first unread place. */
  consume(bytes: Uint8Array, view: DataView, start: number, end: number): number;
}

export interface ParserContext {
  readonly packet: Packet;
  readonly sink: PacketSink;
}
