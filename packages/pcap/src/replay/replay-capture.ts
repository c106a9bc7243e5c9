import { dissect, dissectEthernet } from '../dissect/dissect.ts';
import { Frame, TCP } from '../dissect/frame.ts';
import { parseAddress } from '../dissect/ip-address.ts';
import { PcapError } from '../pcap-error.ts';
import { type CaptureSource, readCapture } from '../read/capture-reader.ts';
import { millisecondsSince, type Packet } from '../read/packet.ts';
import { parseFilter, parsePacketRanges } from '../read/packet-filter.ts';
import { contentKeyOf } from './content-key.ts';
import { fitToMtu } from './fit-to-mtu.ts';
import { FrameRewriter, type ServerNumber } from './frame-rewriter.ts';
import { writeFrame } from './link-header.ts';
import { PacketStore } from './packet-store.ts';
import type { ClientAddress, ReplayRules } from './replay-rules.ts';
import { SideFinder } from './side-finder.ts';

const MAX_BYTES = 512 * 1_048_576;
const MAX_FRAME_BYTES = 262_144 + 32;

export interface ReplaySelection {
  readonly include?: string;
  readonly exclude?: string;
  /** Numbers of packets such as "1-500". */
  readonly packets?: string;
  /** Longer pauses are cut to this. */
  readonly maxGapMs?: number;
  readonly clientIp?: string;
  readonly maxBytes?: number;
}

/** A frame to be sent. Valid only while it is handled. */
export interface ReplayFrame {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly length: number;
  /** Since the first packet. */
  readonly timeMs: number;
  readonly isFromClient: boolean;
  /** −1 where it belongs to none. */
  readonly flow: number;
  /** Undefined where it has none, or addresses stay as recorded. */
  readonly server: ServerNumber | undefined;
  readonly key: number;
  /** Set for TCP with payload: the receiving NIC may coalesce several segments. */
  readonly segment: ReplaySegment | undefined;
  readonly clientAddresses: readonly ClientAddress[];
}

export interface ReplaySegment {
  readonly sequence: number;
  readonly acknowledgement: number;
  readonly length: number;
}

/** Packets of a capture that cannot be replayed. */
export interface ReplayOmissions {
  /** Packets of unknown link types, or too short to be frames. */
  readonly notFrames: number;
  /** Packets without a new address of their IP version. */
  readonly noAddress: number;
  /** Frames that exceed the MTU and cannot be segmented or fragmented. */
  readonly tooLong: number;
}

export interface ReplayOutcome extends ReplayOmissions {
  /** Different addresses of clients, the more numerous version. */
  readonly clients: number;
}

/** The packets of a capture to replay, each assigned to client or server. */
export class ReplayCapture {
  readonly #packets: PacketStore;
  readonly #sides: SideFinder;
  /** The file ends inside a packet. */
  readonly isCut: boolean;
  /** Packets of which the capture holds only a part. */
  readonly truncated: number;

  private constructor(packets: PacketStore, sides: SideFinder, about: { isCut: boolean; truncated: number }) {
    this.#packets = packets;
    this.#sides = sides;
    this.isCut = about.isCut;
    this.truncated = about.truncated;
  }

  static async read(source: CaptureSource, selection: ReplaySelection = {}): Promise<ReplayCapture> {
    const clientIp = selection.clientIp === undefined ? undefined : parseAddress(selection.clientIp);
    const packets = new PacketStore(selection.maxBytes ?? MAX_BYTES);
    const sides = new SideFinder();
    const frame = new Frame();
    const isWanted = testOf(selection);
    const timeOf = clockOf(selection.maxGapMs ?? Number.POSITIVE_INFINITY);
    let truncated = 0;
    const reader = await readCapture(source, (packet) => {
      dissect(frame, packet);
      if (!isWanted(packet, frame)) return true;
      sides.see(frame);
      packets.add(packet, timeOf(packet));
      if (packet.wireLength > packet.length) truncated++;
      return true;
    });
    if (packets.count === 0) throw new PcapError('NOTHING_LEFT', 'No packet is left of the capture.');
    sides.settle(clientIp);
    return new ReplayCapture(packets, sides, { isCut: reader.cutFile, truncated });
  }

  get packets(): number {
    return this.#packets.count;
  }

  /** Passes every rewritten frame to `sink` in order. */
  play(rules: ReplayRules, sink: (frame: ReplayFrame) => void): ReplayOutcome {
    const rewriter = new FrameRewriter(rules);
    const [recorded, written] = [new Frame(), new Frame()];
    const buffer = new Uint8Array(MAX_FRAME_BYTES * 2);
    const omitted = { notFrames: 0, noAddress: 0, tooLong: 0 };
    for (let index = 0; index < this.#packets.count; index++) {
      const packet = this.#packets.at(index);
      const timeMs = this.#packets.timeOf(index);
      dissect(recorded, packet);
      const side = { isFromClient: this.#sides.isFromClient(recorded), flow: this.#sides.flowOf(recorded) };
      const length =
        packet.wireLength > MAX_FRAME_BYTES ? 0 : writeFrame(recorded, packet, rules, { out: buffer, at: 0 });
      if (length === 0) omitted.notFrames++;
      else if (!rewriter.rewrite(buffer, 0, length, side)) omitted.noAddress++;
      else {
        dissectEthernet(written, buffer, 0, length);
        const common = { timeMs, ...side, server: rewriter.server, clientAddresses: rewriter.clientAddresses };
        if (!emit(written, common, rules.mtu, sink)) omitted.tooLong++;
      }
    }
    const { clients } = rewriter;
    return { ...omitted, clients: Math.max(clients.countOf(4), clients.countOf(16)) };
  }
}

type Common = Omit<ReplayFrame, 'bytes' | 'start' | 'length' | 'key' | 'segment'>;

const contentOf = (frame: Frame) => ({ key: contentKeyOf(frame), segment: segmentOf(frame) });

/** False if the frame exceeds the MTU and cannot be split. */
function emit(frame: Frame, common: Common, mtu: number, sink: (frame: ReplayFrame) => void): boolean {
  const { bytes, linkStart, networkStart, end } = frame;
  const head = frame.etherType === 0 ? 14 : networkStart - linkStart;
  if (end - linkStart - head <= mtu) {
    sink({ ...common, bytes, start: linkStart, length: end - linkStart, ...contentOf(frame) });
    return true;
  }
  const ipLength = frame.transportStart + frame.transportLength - networkStart;
  // Only trailing bytes after the IP packet exceed the MTU.
  const pieces =
    frame.ipVersion !== 0 && ipLength <= mtu ? [bytes.slice(linkStart, networkStart + ipLength)] : fitToMtu(frame, mtu);
  if (pieces === undefined) return false;
  const piece = new Frame();
  for (const [index, one] of pieces.entries()) {
    dissectEthernet(piece, one, 0, one.length);
    const clientAddresses = common.clientAddresses.flatMap((address) => addressIn(address, frame, piece, index));
    sink({ ...common, bytes: one, start: 0, length: one.length, ...contentOf(piece), clientAddresses });
  }
  return true;
}

/** Undefined for everything but TCP with payload. */
export function segmentOf(frame: Frame): ReplaySegment | undefined {
  const { hasPorts, protocol, isFragment, payloadLength: length, sequence, acknowledgement } = frame;
  const isSegment = hasPorts && protocol === TCP && !isFragment && length > 0;
  return isSegment ? { sequence, acknowledgement, length } : undefined;
}

/** Where an address of the whole frame is in one of its pieces: headers are in all of them, the rest in the first at most. */
function addressIn(address: ClientAddress, whole: Frame, piece: Frame, index: number): ClientAddress[] {
  const headerEnd = whole.transportStart - whole.linkStart;
  if (address.at >= headerEnd) return [];
  const hasTransport = !piece.isFragment || index === 0;
  const shift = piece.transportStart - piece.linkStart - headerEnd;
  const checksums = address.checksums.flatMap((at) => {
    if (at < headerEnd) return [at];
    return hasTransport ? [at + shift] : [];
  });
  return [{ ...address, checksums }];
}

function testOf({ include, exclude, packets }: ReplaySelection): (packet: Packet, frame: Frame) => boolean {
  const isIncluded = parseFilter(include ?? '');
  const isExcluded = exclude === undefined ? () => false : parseFilter(exclude);
  const isInRange = packets === undefined ? () => true : parsePacketRanges(packets);
  return (packet, frame) => isInRange(packet.number) && isIncluded(frame) && !isExcluded(frame);
}

/** Milliseconds since the first packet, long pauses cut; a packet that is older than the one before counts as of the same time. */
function clockOf(maxGapMs: number): (packet: Packet) => number {
  let before: { seconds: number; nanoseconds: number } | undefined;
  let total = 0;
  return (packet) => {
    const gap = before === undefined ? 0 : millisecondsSince(packet, before.seconds, before.nanoseconds);
    before = { seconds: packet.seconds, nanoseconds: packet.nanoseconds };
    total += Math.min(maxGapMs, Math.max(0, gap));
    return total;
  };
}
