import { copyOf } from '../../bytes/memory.ts';
import { MessageWriter } from '../message-writer.ts';

/** UDP port of requests (RFC 8029, section 3). */
export const lspPingPort = 3503;

export const lspMessage = { request: 1, reply: 2 } as const;
export const lspReplyMode = { none: 1, ip: 2, 'router-alert': 3 } as const;
/** Return codes (RFC 8029, section 3.1). */
export const lspReturn = {
  none: 0,
  malformed: 1,
  unknownTlv: 2,
  egress: 3,
  noMapping: 4,
  otherLabel: 10,
  noLabel: 11,
} as const;

/** Kinds of prefixes in a target FEC stack (RFC 8029, section 3.2). */
export const lspTarget = { 'ldp-ipv4': 1, 'generic-ipv4': 14 } as const;

const tlv = { target: 1, pad: 3, bfdDiscriminator: 15 } as const;
const version = 1;
const validateFec = 1;
const headerBytes = 32;
const prefixBytes = 5;
/** Types from here on are skipped where they are not known. */
const firstOptionalType = 32_768;
const padding = { drop: 1, copy: 2 } as const;
/** Seconds between the epochs of NTP and Unix. */
const ntpOffsetSec = 2_208_988_800;

export interface LspPrefix {
  /** Sub-type of the target. */
  readonly kind: number;
  readonly address: number;
  readonly length: number;
}

export interface LspEcho {
  readonly type: number;
  readonly replyMode: number;
  readonly returnCode: number;
  readonly returnSubcode: number;
  readonly handle: number;
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly sentMs: number;
  readonly receivedMs: number;
  /** undefined: none that is known. */
  readonly target: LspPrefix | undefined;
  /** Of a session of BFD over the path (RFC 5884, section 6.1); undefined: none is asked for. */
  readonly bfdDiscriminator?: number | undefined;
  /** Bytes of padding that go back with the answer, and those that do not. */
  readonly copied: number;
  readonly dropped: number;
}

const writeTime = (writer: MessageWriter, ms: number): void => {
  if (ms === 0) writer.u32(0).u32(0);
  else writer.u32(Math.floor(ms / 1000) + ntpOffsetSec).u32(Math.floor(((ms % 1000) / 1000) * 2 ** 32));
};

const readTime = (view: DataView, at: number): number => {
  const [seconds, fraction] = [view.getUint32(at), view.getUint32(at + 4)];
  return seconds === 0 ? 0 : (seconds - ntpOffsetSec) * 1000 + (fraction / 2 ** 32) * 1000;
};

const writePad = (writer: MessageWriter, kind: number, bytes: number): void => {
  if (bytes === 0) return;
  writer
    .u16(tlv.pad)
    .u16(bytes)
    .u8(kind)
    .zeros(bytes - 1 + (-bytes & 3));
};

export const writeLspEcho = (echo: LspEcho): Uint8Array => {
  const writer = new MessageWriter(128);
  const isRequest = echo.type === lspMessage.request;
  writer.u16(version).u16(isRequest ? validateFec : 0);
  writer.u8(echo.type).u8(echo.replyMode).u8(echo.returnCode).u8(echo.returnSubcode);
  writer.u32(echo.handle).u32(echo.sequence);
  writeTime(writer, echo.sentMs);
  writeTime(writer, echo.receivedMs);
  if (echo.target !== undefined) {
    const { kind, address, length } = echo.target;
    writer.u16(tlv.target).u16(12).u16(kind).u16(prefixBytes).u32(address).u8(length).u24(0);
  }
  if (echo.bfdDiscriminator !== undefined) writer.u16(tlv.bfdDiscriminator).u16(4).u32(echo.bfdDiscriminator);
  writePad(writer, padding.drop, echo.dropped);
  writePad(writer, padding.copy, echo.copied);
  return writer.take();
};

interface Tlvs {
  target: LspPrefix | undefined;
  bfdDiscriminator?: number;
  copied: number;
  dropped: number;
  returnCode: number;
}

/** The first FEC of the stack; the others are behind it. */
const readTarget = (view: DataView, start: number, end: number): LspPrefix | undefined => {
  if (end - start < 12) return undefined;
  const [kind, length] = [view.getUint16(start), view.getUint16(start + 2)];
  const bits = view.getUint8(start + 8);
  const isKnown = Object.values<number>(lspTarget).includes(kind) && length === prefixBytes && bits <= 32;
  return isKnown ? { kind, address: view.getUint32(start + 4), length: bits } : undefined;
};

const readTlvs = (view: DataView): Tlvs => {
  const found: Tlvs = { target: undefined, copied: 0, dropped: 0, returnCode: lspReturn.none };
  let at = headerBytes;
  while (at < view.byteLength) {
    const length = at + 4 <= view.byteLength ? view.getUint16(at + 2) : view.byteLength;
    const [start, end] = [at + 4, at + 4 + length];
    if (end > view.byteLength) return { ...found, returnCode: lspReturn.malformed };
    const type = view.getUint16(at);
    if (type === tlv.target) {
      found.target = readTarget(view, start, end);
      if (found.target === undefined) found.returnCode = lspReturn.malformed;
    } else if (type === tlv.bfdDiscriminator && length === 4) {
      found.bfdDiscriminator = view.getUint32(start);
    } else if (type === tlv.pad && length > 0) {
      if (view.getUint8(start) === padding.copy) found.copied = length;
      else found.dropped = length;
    } else if (type < firstOptionalType) found.returnCode = lspReturn.unknownTlv;
    at = end + (-length & 3);
  }
  return found;
};

/**
 * Reads a message; undefined: of another version, or too short to be answered. A request whose rest is broken has the
 * return code that its answer must have.
 */
export const parseLspEcho = (bytes: Uint8Array): LspEcho | undefined => {
  if (bytes.length < headerBytes) return undefined;
  const own = copyOf(bytes, 0, bytes.length);
  const view = new DataView(own.buffer);
  const type = view.getUint8(4);
  if (view.getUint16(0) !== version || (type !== lspMessage.request && type !== lspMessage.reply)) return undefined;
  const tlvs = readTlvs(view);
  const isRequest = type === lspMessage.request;
  return {
    type,
    replyMode: view.getUint8(5),
    returnSubcode: view.getUint8(7),
    handle: view.getUint32(8),
    sequence: view.getUint32(12),
    sentMs: readTime(view, 16),
    receivedMs: readTime(view, 24),
    ...tlvs,
    returnCode: isRequest ? tlvs.returnCode : view.getUint8(6),
  };
};

/** What is known about the label that a request came with. */
export interface LabelLookup {
  /** The label that is given out for a prefix; undefined: none. */
  labelOf(prefix: LspPrefix): number | undefined;
  isKnown(label: number): boolean;
}

/**
 * The answer of a router that is the last one of all its paths (RFC 8029, section 4.4); undefined: none is wanted. `label`
 * undefined: the request came without one, as the router has asked for.
 */
export const answerLspEcho = (
  request: LspEcho,
  label: number | undefined,
  { labelOf, isKnown }: LabelLookup,
  nowMs: number,
): LspEcho | undefined => {
  if (request.type !== lspMessage.request || request.replyMode === lspReplyMode.none) return undefined;
  const { target } = request;
  let returnCode = request.returnCode;
  const mapped = target === undefined ? undefined : labelOf(target);
  if (returnCode !== lspReturn.none) returnCode = request.returnCode;
  else if (target === undefined) returnCode = lspReturn.malformed;
  else if (label !== undefined && !isKnown(label)) returnCode = lspReturn.noLabel;
  else if (mapped === undefined) returnCode = lspReturn.noMapping;
  else returnCode = mapped === (label ?? implicitNull) ? lspReturn.egress : lspReturn.otherLabel;
  const hasDepth = returnCode >= lspReturn.egress;
  return {
    ...request,
    type: lspMessage.reply,
    returnCode,
    returnSubcode: hasDepth ? 1 : 0,
    receivedMs: nowMs,
    target: undefined,
    bfdDiscriminator: undefined,
    dropped: 0,
  };
};

/** The label that asks the neighbour for none. */
const implicitNull = 3;
