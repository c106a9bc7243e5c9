import { readVarint, varintLength, varintLengthAt, writeVarint } from '../../quic/varint.ts';

/** Types of frames (RFC 9114, section 7.2). */
export const h3Frame = {
  data: 0,
  headers: 1,
  cancelPush: 3,
  settings: 4,
  pushPromise: 5,
  goaway: 7,
  maxPushId: 13,
} as const;

/** Frames of HTTP/2 that must not be used. */
const reservedFrames = new Set([2, 6, 8, 9]);
export const isReservedFrame = (type: number): boolean => reservedFrames.has(type);

/** First number of a unidirectional stream. */
export const h3StreamType = { control: 0, push: 1, encoder: 2, decoder: 3 } as const;

export const h3Setting = { tableBytes: 1, maxFieldSectionBytes: 6, blockedStreams: 7 } as const;
const reservedSettings = new Set([0, 2, 3, 4, 5]);

export const h3Error = {
  none: 0x100,
  general: 0x101,
  internal: 0x102,
  streamCreation: 0x103,
  closedCriticalStream: 0x104,
  frameUnexpected: 0x105,
  frame: 0x106,
  excessiveLoad: 0x107,
  id: 0x108,
  settings: 0x109,
  missingSettings: 0x10a,
  requestRejected: 0x10b,
  requestCancelled: 0x10c,
  requestIncomplete: 0x10d,
  message: 0x10e,
  decompressionFailed: 0x200,
  encoderStream: 0x201,
  decoderStream: 0x202,
} as const;

/** The connection cannot go on and has to be closed with this code. */
export class H3ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** One stream has to be reset with this code. */
export class H3StreamError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const failH3 = (code: number, message: string): never => {
  throw new H3ConnectionError(code, message);
};

/** All numbers of a frame; an error if the last is cut. */
export const readVarints = (bytes: Uint8Array, start: number, end: number): number[] => {
  const numbers: number[] = [];
  for (let at = start; at < end; ) {
    const length = varintLengthAt(bytes[at] as number);
    if (at + length > end) failH3(h3Error.frame, 'a number is cut');
    numbers.push(readVarint(bytes, at));
    at += length;
  }
  return numbers;
};

/** The first bytes of a frame. */
export const frameHead = (type: number, length: number): Uint8Array => {
  const head = new Uint8Array(varintLength(type) + varintLength(length));
  writeVarint(head, writeVarint(head, 0, type), length);
  return head;
};

/** A frame that consists of numbers, after the number of a stream type if one is given. */
export const numbersFrame = (type: number, numbers: readonly number[], streamType?: number): Uint8Array => {
  const length = numbers.reduce((sum, value) => sum + varintLength(value), 0);
  const before = streamType === undefined ? 0 : varintLength(streamType);
  const bytes = new Uint8Array(before + varintLength(type) + varintLength(length) + length);
  let at = streamType === undefined ? 0 : writeVarint(bytes, 0, streamType);
  for (const value of [type, length, ...numbers]) at = writeVarint(bytes, at, value);
  return bytes;
};

export const readH3Settings = (bytes: Uint8Array, start: number, end: number): Map<number, number> => {
  const numbers = readVarints(bytes, start, end);
  if (numbers.length % 2 !== 0) failH3(h3Error.frame, 'a setting has no value');
  const settings = new Map<number, number>();
  for (let i = 0; i < numbers.length; i += 2) {
    const [id, value] = [numbers[i] as number, numbers[i + 1] as number];
    if (reservedSettings.has(id)) failH3(h3Error.settings, `setting ${id} belongs to HTTP/2`);
    if (settings.has(id)) failH3(h3Error.settings, `setting ${id} is there twice`);
    settings.set(id, value);
  }
  return settings;
};
