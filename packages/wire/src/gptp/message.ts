import { hexOfBytes, type Memory } from '../bytes/memory.ts';

/** EtherType and group of the generalized precision time protocol (IEEE 802.1AS). */
export const gptpType = 0x88f7;
export const gptpGroupMac: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0, 0, 0x0e);

export const gptpKind = {
  ...{ sync: 0, pdelayRequest: 2, pdelayResponse: 3, followUp: 8, pdelayFollowUp: 10, announce: 11 },
} as const;
export const twoStepFlag = 0x0200;
const ptpTimescale = 0x0008;
const profileOfGptp = 0x10;
const version = 2;
const headBytes = 34;
const timestampBytes = 10;
const portIdBytes = 10;
/** Information of a follow-up: rate and phase of the grandmaster, which do not change here. */
const followUpTlvBytes = 32;
const announceBytes = 30;
const pathTrace = 8;
const controls: Readonly<Record<number, number>> = { 0: 0, 8: 2 };
const nsPerSec = 1_000_000_000n;
export const maxGptpBytes = 128;

/** What decides which clock is the best; the smaller one wins. Identities are 16 hexadecimal digits. */
export interface ClockRank {
  readonly priority1: number;
  readonly clockClass: number;
  readonly accuracy: number;
  readonly variance: number;
  readonly priority2: number;
  readonly identity: string;
  readonly steps: number;
}

/** Below 0: the first is the better one. */
export const compareRanks = (a: ClockRank, b: ClockRank): number => {
  for (const name of ['priority1', 'clockClass', 'accuracy', 'variance', 'priority2'] as const)
    if (a[name] !== b[name]) return a[name] - b[name];
  if (a.identity !== b.identity) return a.identity < b.identity ? -1 : 1;
  return a.steps - b.steps;
};

export interface GptpMessage {
  readonly kind: number;
  readonly domain: number;
  readonly flags: number;
  /** Nanoseconds × 65536. */
  readonly correction: bigint;
  /** Clock identity and port of the sender: 20 hexadecimal digits. */
  readonly source: string;
  readonly sequence: number;
  readonly logInterval: number;
  /** Nanoseconds; 0 where a message has none. */
  readonly time: bigint;
  /** Who has asked, of answers to requests for the delay. */
  readonly requester?: string;
  readonly rank?: ClockRank;
  /** Clocks that an announce has passed. */
  readonly path?: readonly string[];
}

const readTime = (view: DataView, at: number): bigint =>
  ((BigInt(view.getUint16(at)) << 32n) | BigInt(view.getUint32(at + 2))) * nsPerSec + BigInt(view.getUint32(at + 6));

const readAnnounce = ({ view, bytes }: Memory, at: number, end: number): Pick<GptpMessage, 'rank' | 'path'> => {
  const body = at + timestampBytes;
  const path: string[] = [];
  for (let tlv = at + announceBytes; tlv + 4 <= end; tlv += 4 + view.getUint16(tlv + 2)) {
    if (view.getUint16(tlv) !== pathTrace) continue;
    const stop = Math.min(tlv + 4 + view.getUint16(tlv + 2), end);
    for (let id = tlv + 4; id + 8 <= stop; id += 8) path.push(hexOfBytes(bytes, id, id + 8));
  }
  return {
    rank: {
      ...{ priority1: view.getUint8(body + 3), clockClass: view.getUint8(body + 4), accuracy: view.getUint8(body + 5) },
      ...{ variance: view.getUint16(body + 6), priority2: view.getUint8(body + 8) },
      identity: hexOfBytes(bytes, body + 9, body + 17),
      steps: view.getUint16(body + 17),
    },
    path,
  };
};

/** Bytes behind the header that a message has at least. */
const bodyBytes: Readonly<Record<number, number>> = {
  [gptpKind.sync]: timestampBytes,
  [gptpKind.followUp]: timestampBytes,
  [gptpKind.pdelayRequest]: timestampBytes + portIdBytes,
  [gptpKind.pdelayResponse]: timestampBytes + portIdBytes,
  [gptpKind.pdelayFollowUp]: timestampBytes + portIdBytes,
  [gptpKind.announce]: announceBytes,
};

/** Reads the payload of a frame; undefined if it is no valid message of this protocol. */
export const readGptp = (memory: Memory, start: number, end: number): GptpMessage | undefined => {
  const { view, bytes } = memory;
  if (end - start < headBytes) return undefined;
  const first = view.getUint8(start);
  const length = view.getUint16(start + 2);
  if ((first & 0xf0) !== profileOfGptp || (view.getUint8(start + 1) & 15) !== version) return undefined;
  const kind = first & 15;
  const stop = start + length;
  const body = start + headBytes;
  const needed = bodyBytes[kind];
  if (needed === undefined || stop > end || stop - body < needed) return undefined;
  return {
    ...{ kind, domain: view.getUint8(start + 4), flags: view.getUint16(start + 6) },
    ...{ correction: view.getBigInt64(start + 8), source: hexOfBytes(bytes, start + 20, start + 30) },
    ...{ sequence: view.getUint16(start + 30), logInterval: view.getInt8(start + 33) },
    time: readTime(view, body),
    ...(needed === timestampBytes + portIdBytes && {
      requester: hexOfBytes(bytes, body + timestampBytes, body + timestampBytes + portIdBytes),
    }),
    ...(kind === gptpKind.announce && readAnnounce(memory, body, stop)),
  };
};

const writeHex = (bytes: Uint8Array, at: number, hex: string): void => {
  for (let i = 0; i < hex.length / 2; i++) bytes[at + i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
};

const writeTime = (view: DataView, at: number, time: bigint): void => {
  const seconds = time / nsPerSec;
  view.setUint16(at, Number((seconds >> 32n) & 0xffffn));
  view.setUint32(at + 2, Number(seconds & 0xffffffffn));
  view.setUint32(at + 6, Number(time % nsPerSec));
};

const writeAnnounce = ({ view, bytes }: Memory, at: number, rank: ClockRank, path: readonly string[]): number => {
  const body = at + timestampBytes;
  view.setUint16(body, 37);
  view.setUint8(body + 3, rank.priority1);
  view.setUint8(body + 4, rank.clockClass);
  view.setUint8(body + 5, rank.accuracy);
  view.setUint16(body + 6, rank.variance);
  view.setUint8(body + 8, rank.priority2);
  writeHex(bytes, body + 9, rank.identity);
  view.setUint16(body + 17, rank.steps);
  // An oscillator of its own.
  view.setUint8(body + 19, 0xa0);
  const tlv = at + announceBytes;
  view.setUint16(tlv, pathTrace);
  view.setUint16(tlv + 2, path.length * 8);
  for (const [i, identity] of path.entries()) writeHex(bytes, tlv + 4 + i * 8, identity);
  return tlv + 4 + path.length * 8;
};

/** Writes a message; returns its end. */
export const writeGptp = (memory: Memory, start: number, message: GptpMessage): number => {
  const { bytes, view } = memory;
  bytes.fill(0, start, start + maxGptpBytes);
  const { kind, rank, requester, path = [] } = message;
  const body = start + headBytes;
  view.setUint8(start, profileOfGptp | kind);
  view.setUint8(start + 1, version);
  view.setUint8(start + 4, message.domain);
  view.setUint16(start + 6, message.flags | ptpTimescale);
  view.setBigInt64(start + 8, message.correction);
  writeHex(bytes, start + 20, message.source);
  view.setUint16(start + 30, message.sequence);
  view.setUint8(start + 32, controls[kind] ?? 5);
  view.setInt8(start + 33, message.logInterval);
  let end = body + (bodyBytes[kind] ?? 0);
  if (kind !== gptpKind.announce) writeTime(view, body, message.time);
  if (requester !== undefined) writeHex(bytes, body + timestampBytes, requester);
  if (rank !== undefined) end = writeAnnounce(memory, body, rank, path);
  const isOneStep = kind === gptpKind.sync && (message.flags & twoStepFlag) === 0;
  if (kind === gptpKind.followUp || isOneStep) {
    view.setUint16(end, 3);
    view.setUint16(end + 2, followUpTlvBytes - 4);
    writeHex(bytes, end + 4, '0080c2000001');
    end += followUpTlvBytes;
  }
  view.setUint16(start + 2, end - start);
  return end;
};
