import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import { FrameTemplate } from '../../../net/packet/frame/frame-template.ts';
import { type Layer, lengthOf } from '../../../net/packet/frame/layer.ts';
import { signatureBytes } from '../../../net/packet/frame/signature.ts';
import type { ArrivedFrame } from '../../../net/packet/packet-ring.ts';

type Seen = Pick<ArrivedFrame, 'bytes' | 'start' | 'end' | 'tag'>;

/** Stream number of queries and answers about trials; not test traffic. */
export const trialStream = 0xff_ffff;

const kind = { begin: 1, count: 2, answer: 3 } as const;
const numbers = ['received', 'duplicates', 'reordered', 'drops', 'minUs', 'avgUs', 'p50Us', 'p99Us', 'maxUs'] as const;
const nonceBytes = 8;
const messageBytes = 1 + nonceBytes + 8 * numbers.length;

/** Counts of a trial at the receiver. */
export type TrialCount = Readonly<Record<(typeof numbers)[number], number>>;

export interface TrialQuestion {
  readonly asks: 'begin' | 'count';
  /** Identifies the trial; all its frames carry it as sender number. */
  readonly tag: number;
  /** 8 bytes that are repeated in the answer. */
  readonly nonce: Buffer;
}

const messageAt = (end: number): number => end - signatureBytes - messageBytes;

/** A query with the headers of the trial frames, so that it takes the same path. */
export const trialQuestion = (layers: readonly Layer[], { asks, tag, nonce }: TrialQuestion): Buffer => {
  const template = {
    layers,
    bytes: lengthOf(layers) + messageBytes + signatureBytes,
    fill: Buffer.alloc(1),
    sender: tag,
  };
  const frame = new FrameTemplate({ ...template, fieldsOf: () => [] }).bytes;
  const at = messageAt(frame.length);
  frame[at] = kind[asks];
  frame.set(nonce, at + 1);
  frame.writeUIntBE(trialStream, frame.length - signatureBytes + 5, 3);
  finishChecksums(frame);
  return frame;
};

const tagOf = (bytes: Buffer, end: number): number => bytes.readUInt16BE(end - signatureBytes + 3);

/** Undefined when the frame is not a valid query. */
export const readTrialQuestion = ({ bytes, start, end }: Seen): TrialQuestion | undefined => {
  const at = messageAt(end);
  if (at < start + 14 || (bytes[at] !== kind.begin && bytes[at] !== kind.count)) return undefined;
  const asks = bytes[at] === kind.begin ? 'begin' : 'count';
  return { asks, tag: tagOf(bytes, end), nonce: Buffer.from(bytes.subarray(at + 1, at + 1 + nonceBytes)) };
};

/** The counts of the answer with this nonce; undefined for other frames. */
export const readTrialAnswer = ({ bytes, start, end }: Seen, nonce: Buffer): TrialCount | undefined => {
  const at = messageAt(end);
  if (at < start + 14 || bytes[at] !== kind.answer) return undefined;
  if (!nonce.equals(bytes.subarray(at + 1, at + 1 + nonceBytes))) return undefined;
  const entries = numbers.map((name, index) => [name, bytes.readDoubleBE(at + 1 + nonceBytes + index * 8)]);
  return Object.fromEntries(entries) as TrialCount;
};

const vlanTypes = new Set([0x8100, 0x88a8, 0x9100]);
const type = { ipv4: 0x0800, ipv6: 0x86dd } as const;
const transport = { tcp: 6, udp: 17 } as const;
const hops = 64;
const transportBytes: Readonly<Record<number, number>> = { [transport.tcp]: 20, [transport.udp]: 8 };

/** Offset of the IP header after all VLAN tags; −1 when there is none. */
const ipAt = (frame: Buffer): number => {
  let at = 12;
  while (at + 6 < frame.length && vlanTypes.has(frame.readUInt16BE(at))) at += 4;
  const found = frame.readUInt16BE(at);
  return found === type.ipv4 || found === type.ipv6 ? at + 2 : -1;
};

const swap = (frame: Buffer, at: number, bytes: number): void => {
  const first = Buffer.from(frame.subarray(at, at + bytes));
  frame.copyWithin(at, at + bytes, at + 2 * bytes);
  frame.set(first, at + bytes);
};

interface Placed {
  readonly ip: number;
  readonly isSix: boolean;
  readonly transport: number;
  readonly protocol: number;
}

const locateHeaders = (frame: Buffer): Placed | undefined => {
  const ip = ipAt(frame);
  if (ip < 0) return undefined;
  const isSix = (frame[ip] as number) >> 4 === 6;
  const header = isSix ? 40 : ((frame[ip] as number) & 15) * 4;
  const protocol = frame[ip + (isSix ? 6 : 9)] ?? 0;
  // Length fields of received frames are not trusted.
  const end = ip + header + (transportBytes[protocol] ?? 0);
  return header < 20 || end > messageAt(frame.length) ? undefined : { ip, isSix, transport: ip + header, protocol };
};

/** Writes the checksums of IP and of UDP or TCP. */
const finishChecksums = (frame: Buffer): void => {
  const placed = locateHeaders(frame);
  if (placed === undefined) return;
  const { ip, isSix, transport: at, protocol } = placed;
  if (!isSix) {
    frame.writeUInt16BE(0, ip + 10);
    frame.writeUInt16BE(checksumOf(sumOf(frame, ip, at)), ip + 10);
  }
  if (protocol !== transport.udp && protocol !== transport.tcp) return;
  const checksumAt = at + (protocol === transport.udp ? 6 : 16);
  frame.writeUInt16BE(0, checksumAt);
  const addresses = isSix ? sumOf(frame, ip + 8, ip + 40) : sumOf(frame, ip + 12, ip + 20);
  const checksum = checksumOf(addresses + protocol + (frame.length - at) + sumOf(frame, at, frame.length));
  frame.writeUInt16BE(checksum === 0 ? 0xffff : checksum, checksumAt);
};

/** The frame of the query including the VLAN tag removed by the kernel. */
const withTag = ({ bytes, start, end, tag }: Seen): Buffer => {
  const frame = bytes.subarray(start, end);
  if (tag < 0) return Buffer.from(frame);
  const label = Buffer.alloc(4);
  label.writeUInt32BE(tag);
  return Buffer.concat([frame.subarray(0, 12), label, frame.subarray(12)]);
};

/** The answer: the headers of the query with source and destination swapped, and the counts. */
export const trialAnswer = (question: Seen, ownMac: Uint8Array, count: TrialCount): Buffer | undefined => {
  const frame = withTag(question);
  const placed = locateHeaders(frame);
  if (placed === undefined) return undefined;
  frame.copyWithin(0, 6, 12);
  frame.set(ownMac, 6);
  swap(frame, placed.ip + (placed.isSix ? 8 : 12), placed.isSix ? 16 : 4);
  frame[placed.ip + (placed.isSix ? 7 : 8)] = hops;
  if (placed.protocol === transport.udp || placed.protocol === transport.tcp) swap(frame, placed.transport, 2);
  const at = messageAt(frame.length);
  frame[at] = kind.answer;
  for (const [index, name] of numbers.entries()) frame.writeDoubleBE(count[name], at + 1 + nonceBytes + index * 8);
  finishChecksums(frame);
  return frame;
};
