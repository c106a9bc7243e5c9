import type { Memory } from '../../bytes/memory.ts';

const version = 2;
const flag = { control: 0x8000, length: 0x4000, sequence: 0x0800, offset: 0x0200, priority: 0x0100 } as const;
const controlFlags = flag.control | flag.length | flag.sequence | version;
/** A control message without AVPs: it only acknowledges. */
export const controlHeaderBytes = 12;
const minDataBytes = 6;
/** Address and control field of HDLC, and the protocol of PPP. */
const framing = 0xff03;
const framingBytes = 4;

/** The header of a message of L2TP (RFC 2661, 3.1), parsed into one object that is used again. */
export class L2tpHeader {
  isControl = false;
  isSequenced = false;
  tunnelId = 0;
  sessionId = 0;
  ns = 0;
  nr = 0;
  /** AVPs of a control message, or the PPP frame. */
  payload = 0;
  end = 0;

  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < minDataBytes) return false;
    const flags = view.getUint16(start);
    if ((flags & 0xf) !== version) return false;
    this.isControl = (flags & flag.control) !== 0;
    this.isSequenced = (flags & flag.sequence) !== 0;
    const hasLength = (flags & flag.length) !== 0;
    const hasOffset = (flags & flag.offset) !== 0;
    if (this.isControl && (!hasLength || !this.isSequenced || hasOffset)) return false;
    const bytes = minDataBytes + (hasLength ? 2 : 0) + (this.isSequenced ? 4 : 0) + (hasOffset ? 2 : 0);
    if (start + bytes > end) return false;
    let at = start + 2;
    this.end = hasLength ? start + view.getUint16(at) : end;
    if (hasLength) at += 2;
    this.tunnelId = view.getUint16(at);
    this.sessionId = view.getUint16(at + 2);
    at += 4;
    this.ns = this.isSequenced ? view.getUint16(at) : 0;
    this.nr = this.isSequenced ? view.getUint16(at + 2) : 0;
    if (this.isSequenced) at += 4;
    this.payload = hasOffset ? at + 2 + view.getUint16(at) : at;
    return this.end <= end && this.payload <= this.end;
  }
}

export interface ControlFields {
  readonly tunnelId: number;
  readonly sessionId: number;
  readonly ns: number;
  readonly nr: number;
}

/** Writes the header of the control message [start, end). */
export const writeControlHeader = ({ view }: Memory, start: number, end: number, fields: ControlFields): void => {
  view.setUint16(start, controlFlags);
  view.setUint16(start + 2, end - start);
  view.setUint16(start + 4, fields.tunnelId);
  view.setUint16(start + 6, fields.sessionId);
  view.setUint16(start + 8, fields.ns);
  view.setUint16(start + 10, fields.nr);
};

export interface DataFields {
  readonly tunnelId: number;
  readonly sessionId: number;
  readonly hasLength: boolean;
  /** Number of the message; -1: without numbers. */
  readonly ns: number;
  /** Bytes between header and frame; -1: without the field. */
  readonly offset?: number;
  readonly isPriority?: boolean;
}

/** Bytes before the packet of a PPP frame. */
export const dataBytes = (hasLength: boolean, isSequenced: boolean, offset = -1): number =>
  minDataBytes + (hasLength ? 2 : 0) + (isSequenced ? 4 : 0) + (offset < 0 ? 0 : 2 + offset) + framingBytes;

/** Writes header and framing before the packet [at, end) of a PPP protocol; returns where the message starts. */
export const wrapData = (
  { view, bytes }: Memory,
  at: number,
  end: number,
  protocol: number,
  fields: DataFields,
): number => {
  const { hasLength, ns, offset = -1 } = fields;
  const start = at - dataBytes(hasLength, ns >= 0, offset);
  const flags =
    version |
    (hasLength ? flag.length : 0) |
    (ns < 0 ? 0 : flag.sequence) |
    (offset < 0 ? 0 : flag.offset) |
    (fields.isPriority === true ? flag.priority : 0);
  view.setUint16(start, flags);
  let next = start + 2;
  const write = (value: number) => {
    view.setUint16(next, value);
    next += 2;
  };
  if (hasLength) write(end - start);
  write(fields.tunnelId);
  write(fields.sessionId);
  if (ns >= 0) write(ns);
  if (ns >= 0) write(0);
  if (offset >= 0) write(offset);
  bytes.fill(0, next, at - framingBytes);
  view.setUint16(at - framingBytes, framing);
  view.setUint16(at - 2, protocol);
  return start;
};

/** Where the protocol of a PPP frame is: the address and control field may be left out. */
export const frameProtocolAt = ({ view }: Memory, start: number, end: number): number =>
  end - start >= 2 && view.getUint16(start) === framing ? start + 2 : start;
