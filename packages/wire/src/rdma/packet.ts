import type { Memory } from '../bytes/memory.ts';

export const bthBytes = 12;
export const icrcBytes = 4;
const rethBytes = 16;
const wordBytes = 4;
const dethBytes = 8;
const cnpBytes = 16;
const defaultPartition = 0xffff;
const psnMask = 0xffffff;

/** Operations of reliable connections, and what else is sent over UDP port 4791. */
export const opcode = {
  sendFirst: 0,
  sendMiddle: 1,
  sendLast: 2,
  sendLastImmediate: 3,
  sendOnly: 4,
  sendOnlyImmediate: 5,
  writeFirst: 6,
  writeMiddle: 7,
  writeLast: 8,
  writeLastImmediate: 9,
  writeOnly: 10,
  writeOnlyImmediate: 11,
  readRequest: 12,
  readResponseFirst: 13,
  readResponseMiddle: 14,
  readResponseLast: 15,
  readResponseOnly: 16,
  acknowledge: 17,
  datagram: 0x64,
  congestion: 0x81,
} as const;

const lastOpcode = opcode.acknowledge;
const withReth: ReadonlySet<number> = new Set([6, 10, 11, 12]);
const withAeth: ReadonlySet<number> = new Set([13, 15, 16, 17]);
const withImmediate: ReadonlySet<number> = new Set([3, 5, 9, 11]);

/** Bytes of all headers of an operation, BTH included; -1: unknown. */
export const headerBytes = (code: number): number => {
  if (code === opcode.datagram) return bthBytes + dethBytes;
  if (code === opcode.congestion) return bthBytes + cnpBytes;
  if (code < 0 || code > lastOpcode) return -1;
  return (
    bthBytes +
    (withReth.has(code) ? rethBytes : 0) +
    (withAeth.has(code) ? wordBytes : 0) +
    (withImmediate.has(code) ? wordBytes : 0)
  );
};

/** A packet behind its UDP header, parsed into one object that is used again. */
export class RdmaPacket {
  opcode = 0;
  isAckRequested = false;
  destinationQp = 0;
  psn = 0;
  /** Payload without padding and check sequence. */
  payload = 0;
  end = 0;
  /** RDMA extended header: where to write or read. */
  address = 0n;
  key = 0;
  length = 0;
  /** Acknowledge extended header. */
  syndrome = 0;
  messages = 0;
  immediate = 0;
  /** Datagram extended header. */
  sourceQp = 0;

  /** Returns false for what cannot be a packet. */
  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < bthBytes + icrcBytes) return false;
    this.opcode = view.getUint8(start);
    const flags = view.getUint8(start + 1);
    const headers = headerBytes(this.opcode);
    const padding = (flags >> 4) & 3;
    if (headers < 0 || (flags & 15) !== 0 || end - start < headers + padding + icrcBytes) return false;
    this.destinationQp = view.getUint32(start + 4) & psnMask;
    const word = view.getUint32(start + 8);
    this.isAckRequested = word >>> 31 === 1;
    this.psn = word & psnMask;
    this.payload = start + headers;
    this.end = end - icrcBytes - padding;
    this.#parseExtensions(view, start + bthBytes);
    return true;
  }

  #parseExtensions(view: DataView, start: number): void {
    let at = start;
    if (this.opcode === opcode.datagram) this.sourceQp = view.getUint32(at + 4) & psnMask;
    if (withReth.has(this.opcode)) {
      this.address = view.getBigUint64(at);
      this.key = view.getUint32(at + 8);
      this.length = view.getUint32(at + 12);
      at += rethBytes;
    }
    if (withAeth.has(this.opcode)) {
      this.syndrome = view.getUint8(at);
      this.messages = view.getUint32(at) & psnMask;
      at += wordBytes;
    }
    if (withImmediate.has(this.opcode)) this.immediate = view.getUint32(at);
  }
}

export interface BaseHeader {
  readonly opcode: number;
  readonly destinationQp: number;
  readonly psn: number;
  readonly isAckRequested?: boolean;
  /** Bytes of payload, to which padding is added. */
  readonly payloadBytes?: number;
  /** Backward congestion: of notifications only. */
  readonly isBackward?: boolean;
}

export const paddingOf = (payloadBytes: number): number => -payloadBytes & 3;

export const writeBase = ({ view }: Memory, at: number, header: BaseHeader): void => {
  view.setUint8(at, header.opcode);
  view.setUint8(at + 1, paddingOf(header.payloadBytes ?? 0) << 4);
  view.setUint16(at + 2, defaultPartition);
  view.setUint32(at + 4, (header.isBackward === true ? 0x40000000 : 0) | header.destinationQp);
  view.setUint32(at + 8, (((header.isAckRequested ?? false) ? 0x80000000 : 0) | (header.psn & psnMask)) >>> 0);
};

/** Where a write or read begins, after the base header. */
export const writeReth = ({ view }: Memory, at: number, address: bigint, key: number, length: number): void => {
  view.setBigUint64(at, address);
  view.setUint32(at + 8, key);
  view.setUint32(at + 12, length);
};

export const writeAeth = ({ view }: Memory, at: number, syndrome: number, messages: number): void =>
  view.setUint32(at, ((syndrome << 24) | (messages & psnMask)) >>> 0);

/** Meanings of a syndrome by its upper bits, and refusals by the lower ones. */
export const acknowledged = 0x1f;
export const notReady = 0x20;
export const refusal = { sequence: 0x60, invalidRequest: 0x61, remoteAccess: 0x62, remoteOperation: 0x63 } as const;
export const syndromeKind = (syndrome: number): 'ack' | 'notReady' | 'refusal' | 'unknown' =>
  (['ack', 'notReady', 'unknown', 'refusal'] as const)[(syndrome >> 5) & 3] ?? 'unknown';

/** Waits that a receiver without room asks for, in microseconds, by the lower bits of the syndrome. */
const notReadyUs: readonly number[] = [
  655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10_240,
  15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520,
];
export const notReadyWaitUs = (syndrome: number): number => notReadyUs[syndrome & 31] as number;

/** The distance from `from` to `to`, numbers of 24 bits that wrap. */
export const psnDistance = (from: number, to: number): number => ((to - from) << 8) >> 8;
