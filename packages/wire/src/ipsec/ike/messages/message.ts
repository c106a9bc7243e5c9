import { payloadType } from './numbers.ts';

/** A message that breaks the format of IKEv2. */
export class IkeSyntaxError extends Error {}

/** A payload that the sender marks as critical and that is unknown here. */
export class UnsupportedPayloadError extends Error {
  readonly type: number;

  constructor(type: number) {
    super(`critical payload ${type} is not supported`);
    this.type = type;
  }
}

export interface IkeHeader {
  readonly initiatorSpi: Uint8Array;
  readonly responderSpi: Uint8Array;
  readonly firstPayload: number;
  readonly majorVersion: number;
  readonly exchange: number;
  readonly flags: number;
  readonly messageId: number;
  readonly length: number;
}

export interface IkePayload {
  readonly type: number;
  readonly body: Uint8Array;
  /** Type of the payload after it; of an encrypted payload, the first one inside it. */
  readonly next?: number;
}

export const ikeHeaderBytes = 28;
const payloadHeaderBytes = 4;
const knownTypes: ReadonlySet<number> = new Set(Object.values(payloadType));
const criticalBit = 0x80;

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

// A view costs more than the few bytes that are read or written by it.
export const readUint16 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 8) | (bytes[at + 1] as number);

export const writeUint16 = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value & 255;
};

export const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((readUint16(bytes, at) << 16) | readUint16(bytes, at + 2)) >>> 0;

export const writeUint32 = (bytes: Uint8Array, at: number, value: number): void => {
  writeUint16(bytes, at, value >>> 16);
  writeUint16(bytes, at + 2, value & 0xffff);
};

export const concatBytes = (...parts: readonly Uint8Array[]): Uint8Array => {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
};

export const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

/** Undefined for what is not a whole IKE message. */
export const readHeader = (message: Uint8Array): IkeHeader | undefined => {
  if (message.length < ikeHeaderBytes) return undefined;
  const length = readUint32(message, 24);
  if (length !== message.length) return undefined;
  return {
    initiatorSpi: message.subarray(0, 8),
    responderSpi: message.subarray(8, 16),
    firstPayload: message[16] as number,
    majorVersion: (message[17] as number) >>> 4,
    exchange: message[18] as number,
    flags: message[19] as number,
    messageId: readUint32(message, 20),
    length,
  };
};

/** Payloads of [start, end). An encrypted payload is the last one. Unknown payloads that are not critical are left out. */
export const readPayloads = (message: Uint8Array, start: number, first: number): IkePayload[] => {
  const payloads: IkePayload[] = [];
  let at = start;
  let type = first;
  while (type !== payloadType.none) {
    if (at + payloadHeaderBytes > message.length) throw new IkeSyntaxError('a payload is cut off');
    const next = message[at] as number;
    const length = readUint16(message, at + 2);
    if (length < payloadHeaderBytes || at + length > message.length) {
      throw new IkeSyntaxError(`payload ${type} has the length ${length}`);
    }
    const body = message.subarray(at + payloadHeaderBytes, at + length);
    if (knownTypes.has(type)) payloads.push({ type, body, next });
    else if (((message[at + 1] as number) & criticalBit) !== 0) throw new UnsupportedPayloadError(type);
    at += length;
    if (type === payloadType.encrypted || type === payloadType.encryptedFragment) break;
    type = next;
  }
  if (at !== message.length) throw new IkeSyntaxError('bytes follow the last payload');
  return payloads;
};

export const payloadsLength = (payloads: readonly IkePayload[]): number => {
  let length = 0;
  for (const { body } of payloads) length += payloadHeaderBytes + body.length;
  return length;
};

/** Writes the chain of payloads, without a header. */
export const writePayloads = (bytes: Uint8Array, start: number, payloads: readonly IkePayload[]): void => {
  let at = start;
  for (let i = 0; i < payloads.length; i++) {
    const { body, next } = payloads[i] as IkePayload;
    bytes[at] = next ?? payloads[i + 1]?.type ?? payloadType.none;
    writeUint16(bytes, at + 2, payloadHeaderBytes + body.length);
    bytes.set(body, at + payloadHeaderBytes);
    at += payloadHeaderBytes + body.length;
  }
};

/** The chain of payloads alone. */
export const payloadBytes = (payloads: readonly IkePayload[]): Uint8Array => {
  const bytes = new Uint8Array(payloadsLength(payloads));
  writePayloads(bytes, 0, payloads);
  return bytes;
};

export interface HeaderFields {
  readonly initiatorSpi: Uint8Array;
  readonly responderSpi: Uint8Array;
  readonly exchange: number;
  readonly flags: number;
  readonly messageId: number;
}

/** Writes the header of a message of `message.length` bytes. */
export const writeHeader = (message: Uint8Array, first: number, fields: HeaderFields): void => {
  message.set(fields.initiatorSpi, 0);
  message.set(fields.responderSpi, 8);
  message[16] = first;
  message[17] = 0x20;
  message[18] = fields.exchange;
  message[19] = fields.flags;
  writeUint32(message, 20, fields.messageId);
  writeUint32(message, 24, message.length);
};

/** A message that is not encrypted. */
export const writeMessage = (fields: HeaderFields, payloads: readonly IkePayload[]): Uint8Array => {
  const message = new Uint8Array(ikeHeaderBytes + payloadsLength(payloads));
  writePayloads(message, ikeHeaderBytes, payloads);
  writeHeader(message, payloads[0]?.type ?? payloadType.none, fields);
  return message;
};
