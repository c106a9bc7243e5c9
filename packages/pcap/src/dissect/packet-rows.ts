import { type CaptureSource, readCapture } from '../read/capture-reader.ts';
import { LINK_ETHERNET } from '../read/link-type.ts';
import { millisecondsSince, type Packet } from '../read/packet.ts';
import { parseFilter } from '../read/packet-filter.ts';
import { roundMs } from '../sessions/pcap-info.ts';
import { dissect } from './dissect.ts';
import { addressBytesOf, Frame } from './frame.ts';
import { formatAddress, formatMac } from './ip-address.ts';
import { ETHERTYPE_ARP } from './link-layer.ts';
import { summaryOf } from './packet-summary.ts';

export interface PacketRow {
  /** Number of the packet in the file, from 1. */
  n: number;
  relTimeMs: number;
  src: string;
  dst: string;
  proto: string;
  /** On the wire. */
  length: number;
  info: string;
}

export interface RowSelection {
  /** How many matching packets to pass over. */
  readonly start?: number;
  readonly limit: number;
  readonly filter?: string;
}

export interface PacketRows {
  readonly rows: PacketRow[];
  /** Whether another matching packet follows. */
  readonly hasMore: boolean;
}

/** One row per packet, as a reader of captures expects it; the source is read only as far as needed. */
export async function packetRows(source: CaptureSource, selection: RowSelection): Promise<PacketRows> {
  const passes = parseFilter(selection.filter ?? '');
  const frame = new Frame();
  const rows: PacketRow[] = [];
  let toSkip = selection.start ?? 0;
  let hasMore = false;
  let origin: { seconds: number; nanoseconds: number } | undefined;
  await readCapture(source, (packet) => {
    origin ??= { seconds: packet.seconds, nanoseconds: packet.nanoseconds };
    dissect(frame, packet);
    if (!passes(frame)) return true;
    if (toSkip > 0) {
      toSkip--;
      return true;
    }
    hasMore = rows.length >= selection.limit;
    if (!hasMore) rows.push(rowOf(packet, frame, millisecondsSince(packet, origin.seconds, origin.nanoseconds)));
    return !hasMore;
  });
  return { rows, hasMore };
}

function rowOf(packet: Packet, frame: Frame, relTimeMs: number): PacketRow {
  const { proto, info } = summaryOf(frame);
  const [src, dst] = endsOf(frame);
  return { n: packet.number, relTimeMs: roundMs(relTimeMs), src, dst, proto, length: packet.wireLength, info };
}

function endsOf(frame: Frame): [string, string] {
  const { bytes, linkStart, networkStart } = frame;
  if (frame.ipVersion !== 0) {
    const count = addressBytesOf(frame);
    return [formatAddress(bytes, frame.source, count), formatAddress(bytes, frame.destination, count)];
  }
  if (frame.etherType === ETHERTYPE_ARP && networkStart + 28 <= frame.end) {
    return [formatAddress(bytes, networkStart + 14, 4), formatAddress(bytes, networkStart + 24, 4)];
  }
  if (frame.linkType !== LINK_ETHERNET || linkStart + 12 > frame.end) return ['', ''];
  return [formatMac(bytes, linkStart + 6), formatMac(bytes, linkStart)];
}
