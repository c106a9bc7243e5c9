import type { Memory } from '../../bytes/memory.ts';

export const tcpFlag = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32, ece: 64, cwr: 128 } as const;

export const minHeaderLength = 20;
const maxSackBlocks = 4;
/** NOP, NOP, kind 8, length 10: how timestamps stand alone in a segment. */
const timestampPrefix = 0x0101080a;

/** Header and options of a segment, parsed into one object that is used again for every segment. */
export class Segment {
  sourcePort = 0;
  destinationPort = 0;
  seq = 0;
  ack = 0;
  flags = 0;
  /** As it stands in the header, not scaled. */
  window = 0;
  /** Where urgent data ends, from `seq` on; 0: there is none. */
  urgent = 0;
  /** 0: no option. */
  mss = 0;
  /** -1: no option. */
  windowShift = -1;
  isSackPermitted = false;
  hasTimestamps = false;
  tsValue = 0;
  tsEcho = 0;
  /** Where a signature (RFC 2385) stands in the memory; -1: there is none. */
  signatureAt = -1;
  sackCount = 0;
  /** Starts and ends of SACK blocks. */
  readonly sacks: Int32Array = new Int32Array(maxSackBlocks * 2);
  /** Payload: [dataStart, dataEnd) of the memory. */
  dataStart = 0;
  dataEnd = 0;

  /** Sequence numbers the segment occupies. */
  get length(): number {
    const { flags } = this;
    return this.dataEnd - this.dataStart + (flags & tcpFlag.fin) + ((flags & tcpFlag.syn) >> 1);
  }

  /** Reads the segment [start, end). Returns false for a header that cannot be one; a bad option ends the options. */
  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < minHeaderLength) return false;
    const headerLength = (view.getUint8(start + 12) >>> 4) << 2;
    if (headerLength < minHeaderLength || start + headerLength > end) return false;
    this.sourcePort = view.getUint16(start);
    this.destinationPort = view.getUint16(start + 2);
    this.seq = view.getInt32(start + 4);
    this.ack = view.getInt32(start + 8);
    this.flags = view.getUint8(start + 13);
    this.window = view.getUint16(start + 14);
    this.urgent = (this.flags & tcpFlag.urg) === 0 ? 0 : view.getUint16(start + 18);
    this.dataStart = start + headerLength;
    this.dataEnd = end;
    this.mss = 0;
    this.windowShift = -1;
    this.isSackPermitted = false;
    this.sackCount = 0;
    this.signatureAt = -1;
    if (headerLength === 32 && view.getInt32(start + 20) === timestampPrefix) {
      this.hasTimestamps = true;
      this.tsValue = view.getInt32(start + 24);
      this.tsEcho = view.getInt32(start + 28);
    } else {
      this.hasTimestamps = false;
      if (headerLength > minHeaderLength) this.#parseOptions(view, start + minHeaderLength, this.dataStart);
    }
    return true;
  }

  #parseOptions(view: DataView, start: number, end: number): void {
    let at = start;
    while (at < end) {
      const kind = view.getUint8(at);
      if (kind === 0) return;
      if (kind === 1) {
        at++;
        continue;
      }
      if (at + 1 >= end) return;
      const length = view.getUint8(at + 1);
      if (length < 2 || at + length > end) return;
      this.#parseOption(view, at, kind, length);
      at += length;
    }
  }

  #parseOption(view: DataView, at: number, kind: number, length: number): void {
    if (kind === 2 && length === 4) this.mss = view.getUint16(at + 2);
    else if (kind === 3 && length === 3) this.windowShift = Math.min(view.getUint8(at + 2), 14);
    else if (kind === 4 && length === 2) this.isSackPermitted = true;
    else if (kind === 5 && length >= 10 && (length - 2) % 8 === 0) {
      this.sackCount = Math.min((length - 2) >> 3, maxSackBlocks);
      for (let i = 0; i < this.sackCount * 2; i++) this.sacks[i] = view.getInt32(at + 2 + i * 4);
    } else if (kind === 8 && length === 10) {
      this.hasTimestamps = true;
      this.tsValue = view.getInt32(at + 2);
      this.tsEcho = view.getInt32(at + 6);
    } else if (kind === 19 && length === 18) this.signatureAt = at + 2;
  }
}

/** Options of a SYN or SYN-ACK, in the order Linux writes them. Negative or 0: left out. */
export interface SynOptions {
  mss: number;
  windowShift: number;
  isSackPermitted: boolean;
  hasTimestamps: boolean;
  tsValue: number;
  tsEcho: number;
}

/** Writes them at `at` and returns where they end, a multiple of four bytes later. */
export const writeSynOptions = (view: DataView, start: number, options: SynOptions): number => {
  let at = start;
  if (options.mss > 0) {
    view.setInt32(at, 0x02040000 | options.mss);
    at += 4;
  }
  if (options.hasTimestamps) {
    view.setUint16(at, options.isSackPermitted ? 0x0402 : 0x0101);
    view.setUint16(at + 2, 0x080a);
    view.setInt32(at + 4, options.tsValue);
    view.setInt32(at + 8, options.tsEcho);
    at += 12;
  } else if (options.isSackPermitted) {
    view.setInt32(at, 0x01010402);
    at += 4;
  }
  if (options.windowShift >= 0) {
    view.setInt32(at, 0x01030300 | options.windowShift);
    at += 4;
  }
  return at;
};

/** Writes a timestamps option with padding: 12 bytes. */
export const writeTimestamps = (view: DataView, at: number, value: number, echo: number): void => {
  view.setInt32(at, timestampPrefix);
  view.setInt32(at + 4, value);
  view.setInt32(at + 8, echo);
};

/** Writes the fixed header except for the checksum, which is set to 0. */
export const writeHeader = (
  view: DataView,
  at: number,
  ports: number,
  seq: number,
  ack: number,
  lengthAndFlags: number,
  window: number,
): void => {
  view.setInt32(at, ports);
  view.setInt32(at + 4, seq);
  view.setInt32(at + 8, ack);
  view.setUint16(at + 12, lengthAndFlags);
  view.setUint16(at + 14, window);
  view.setInt32(at + 16, 0);
};
