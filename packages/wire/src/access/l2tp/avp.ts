import { md5 } from '../../bytes/md5.ts';
import { copyOf, Memory } from '../../bytes/memory.ts';

/** Attributes of RFC 2661. */
export const avpType = {
  messageType: 0,
  resultCode: 1,
  protocolVersion: 2,
  framingCapabilities: 3,
  bearerCapabilities: 4,
  tieBreaker: 5,
  firmwareRevision: 6,
  hostName: 7,
  vendorName: 8,
  assignedTunnelId: 9,
  receiveWindow: 10,
  challenge: 11,
  causeCode: 12,
  challengeResponse: 13,
  assignedSessionId: 14,
  callSerialNumber: 15,
  minimumBps: 16,
  maximumBps: 17,
  bearerType: 18,
  framingType: 19,
  calledNumber: 21,
  callingNumber: 22,
  subAddress: 23,
  connectSpeed: 24,
  physicalChannel: 25,
  initialReceivedLcp: 26,
  lastSentLcp: 27,
  lastReceivedLcp: 28,
  proxyAuthType: 29,
  proxyAuthName: 30,
  proxyAuthChallenge: 31,
  proxyAuthId: 32,
  proxyAuthResponse: 33,
  callErrors: 34,
  accm: 35,
  randomVector: 36,
  privateGroupId: 37,
  rxConnectSpeed: 38,
  sequencingRequired: 39,
} as const;

/** Shortest and longest value, whether it is mandatory, and whether it may be hidden. */
interface AvpRule {
  readonly min: number;
  readonly max: number;
  readonly isMandatory: boolean;
  readonly mayHide: boolean;
}

const mandatoryBit = 0x8000;
const hiddenBit = 0x4000;
const reservedBits = 0x3c00;
const lengthBits = 0x03ff;
const avpHeaderBytes = 6;
const anyLength = lengthBits - avpHeaderBytes;
const block = 16;

const rule = (min: number, max: number, isMandatory: boolean, mayHide: boolean): AvpRule => ({
  min,
  max,
  isMandatory,
  mayHide,
});

const rules = new Map<number, AvpRule>([
  [avpType.messageType, rule(2, 2, true, false)],
  [avpType.resultCode, rule(2, anyLength, true, false)],
  [avpType.protocolVersion, rule(2, 2, true, false)],
  [avpType.framingCapabilities, rule(4, 4, true, true)],
  [avpType.bearerCapabilities, rule(4, 4, true, true)],
  [avpType.tieBreaker, rule(8, 8, false, false)],
  [avpType.firmwareRevision, rule(2, 2, false, true)],
  [avpType.hostName, rule(1, anyLength, true, false)],
  [avpType.vendorName, rule(0, anyLength, false, true)],
  [avpType.assignedTunnelId, rule(2, 2, true, true)],
  [avpType.receiveWindow, rule(2, 2, true, false)],
  [avpType.challenge, rule(1, anyLength, true, true)],
  [avpType.causeCode, rule(3, anyLength, true, false)],
  [avpType.challengeResponse, rule(16, 16, true, true)],
  [avpType.assignedSessionId, rule(2, 2, true, true)],
  [avpType.callSerialNumber, rule(4, 4, true, true)],
  [avpType.minimumBps, rule(4, 4, true, true)],
  [avpType.maximumBps, rule(4, 4, true, true)],
  [avpType.bearerType, rule(4, 4, true, true)],
  [avpType.framingType, rule(4, 4, true, true)],
  [avpType.calledNumber, rule(0, anyLength, true, true)],
  [avpType.callingNumber, rule(0, anyLength, true, true)],
  [avpType.subAddress, rule(0, anyLength, true, true)],
  [avpType.connectSpeed, rule(4, 4, true, true)],
  [avpType.physicalChannel, rule(4, 4, false, true)],
  [avpType.initialReceivedLcp, rule(0, anyLength, false, true)],
  [avpType.lastSentLcp, rule(0, anyLength, false, true)],
  [avpType.lastReceivedLcp, rule(0, anyLength, false, true)],
  [avpType.proxyAuthType, rule(2, 2, false, true)],
  [avpType.proxyAuthName, rule(0, anyLength, false, true)],
  [avpType.proxyAuthChallenge, rule(1, anyLength, false, true)],
  [avpType.proxyAuthId, rule(2, 2, false, true)],
  [avpType.proxyAuthResponse, rule(0, anyLength, false, true)],
  [avpType.callErrors, rule(26, 26, true, true)],
  [avpType.accm, rule(10, 10, true, true)],
  [avpType.randomVector, rule(1, anyLength, true, false)],
  [avpType.privateGroupId, rule(0, anyLength, false, true)],
  [avpType.rxConnectSpeed, rule(4, 4, false, true)],
  [avpType.sequencingRequired, rule(0, 0, true, false)],
]);

export interface Avp {
  readonly type: number;
  readonly value: Uint8Array;
}

/** Why a message cannot be accepted: the error code of RFC 2661, 4.4.2, and the attribute. */
export interface AvpError {
  readonly code: number;
  readonly attribute: number;
}
export const avpError = { length: 2, value: 3, resources: 4, session: 5, unknownMandatory: 8 } as const;

const joined = (...parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

export interface HidingKey {
  readonly secret: Uint8Array;
  readonly vector: Uint8Array;
}

/** Applies the masks of RFC 2661, 4.3, in place; each mask but the first is made from the hidden block before it. */
const mask = (text: Uint8Array, type: number, { secret, vector }: HidingKey, isHiding: boolean): void => {
  let key = md5(joined(Uint8Array.of(type >>> 8, type & 255), secret, vector));
  for (let at = 0; at < text.length; at += block) {
    const end = Math.min(at + block, text.length);
    const hidden = isHiding ? undefined : copyOf(text, at, end);
    for (let i = at; i < end; i++) text[i] = (text[i] as number) ^ (key[i - at] as number);
    if (end < text.length) key = md5(joined(secret, hidden ?? text.subarray(at, end)));
  }
};

/** The hidden form of a value: its length, itself and padding, masked. */
export const hideValue = (type: number, value: Uint8Array, key: HidingKey, padding = 0): Uint8Array => {
  const text = new Uint8Array(2 + value.length + padding);
  new DataView(text.buffer).setUint16(0, value.length);
  text.set(value, 2);
  mask(text, type, key, true);
  return text;
};

/** The value behind a hidden one; undefined if it cannot be one. */
export const revealValue = (type: number, hidden: Uint8Array, key: HidingKey): Uint8Array | undefined => {
  if (hidden.length < 2) return undefined;
  const text = copyOf(hidden);
  mask(text, type, key, false);
  const length = new DataView(text.buffer).getUint16(0);
  return 2 + length <= text.length ? text.subarray(2, 2 + length) : undefined;
};

/** The answer to the challenge of a tunnel; `messageType` is that of the message it is sent in (RFC 2661, 4.4.3). */
export const challengeResponse = (messageType: number, secret: Uint8Array, challenge: Uint8Array): Uint8Array =>
  md5(joined(Uint8Array.of(messageType), secret, challenge));

/** Writes AVPs; with a key, those that may be hidden and are named are hidden behind a random vector. */
export const writeAvps = (
  avps: readonly Avp[],
  hiding?: { readonly key: HidingKey; readonly types: ReadonlySet<number> },
): Uint8Array => {
  const parts: Uint8Array[] = [];
  let isVectorSent = false;
  const add = (type: number, value: Uint8Array, bits: number) => {
    const head = new Memory(new Uint8Array(avpHeaderBytes));
    head.view.setUint16(0, bits | (avpHeaderBytes + value.length));
    head.view.setUint16(4, type);
    parts.push(head.bytes, value);
  };
  for (const { type, value } of avps) {
    const { isMandatory, mayHide } = rules.get(type) as AvpRule;
    const bits = isMandatory ? mandatoryBit : 0;
    if (hiding === undefined || !mayHide || !hiding.types.has(type)) {
      add(type, value, bits);
      continue;
    }
    if (!isVectorSent) add(avpType.randomVector, hiding.key.vector, mandatoryBit);
    isVectorSent = true;
    add(type, hideValue(type, value, hiding.key), bits | hiddenBit);
  }
  return joined(...parts);
};

/** The attributes of a message by type, of several with the same type the first. */
export type AvpMap = ReadonlyMap<number, Uint8Array>;

export interface AvpReading {
  readonly avps: AvpMap;
  /** The first that makes the message unacceptable. */
  readonly error: AvpError | undefined;
  /** The message type is mandatory. */
  readonly isTypeMandatory: boolean;
}

/** One AVP as it stands in a message. */
interface RawAvp {
  readonly bits: number;
  readonly vendor: number;
  readonly type: number;
  readonly value: Uint8Array;
}

/** The AVP at `at`, or undefined if it does not fit. */
const rawAvpAt = ({ bytes, view }: Memory, at: number, end: number): RawAvp | undefined => {
  if (at + avpHeaderBytes > end) return undefined;
  const bits = view.getUint16(at);
  const length = bits & lengthBits;
  if (length < avpHeaderBytes || at + length > end) return undefined;
  const value = bytes.subarray(at + avpHeaderBytes, at + length);
  return { bits, vendor: view.getUint16(at + 2), type: view.getUint16(at + 4), value };
};

/** The plain value of a known AVP, or the code of what is wrong with it. */
const judgeAvp = (raw: RawAvp, secret: Uint8Array, vector: Uint8Array | undefined): Uint8Array | number => {
  const { bits, type } = raw;
  const known = raw.vendor === 0 && (bits & reservedBits) === 0 ? rules.get(type) : undefined;
  if (known === undefined) return avpError.unknownMandatory;
  let value: Uint8Array | undefined = raw.value;
  if ((bits & hiddenBit) !== 0) {
    if (!known.mayHide || vector === undefined || secret.length === 0) return avpError.value;
    value = revealValue(type, value, { secret, vector });
  }
  if (value === undefined || value.length < known.min || value.length > known.max) return avpError.length;
  return value;
};

/**
 * Reads the AVPs [start, end) of a message. Unknown and malformed ones are ignored unless they are mandatory (RFC 2661,
 * 4.2 and 7.1). Undefined: they cannot be read, or the first is not the message type. Values share the memory.
 */
export const readAvps = (memory: Memory, start: number, end: number, secret: Uint8Array): AvpReading | undefined => {
  const avps = new Map<number, Uint8Array>();
  let error: AvpError | undefined;
  let isTypeMandatory = false;
  let vector: Uint8Array | undefined;
  for (let at = start; at < end; ) {
    const raw = rawAvpAt(memory, at, end);
    if (raw === undefined) return undefined;
    const isMandatory = (raw.bits & mandatoryBit) !== 0;
    const value = judgeAvp(raw, secret, vector);
    const isType = typeof value !== 'number' && raw.type === avpType.messageType;
    if (at === start) {
      if (!isType) return undefined;
      isTypeMandatory = isMandatory;
    }
    if (typeof value === 'number') {
      if (isMandatory) error ??= { code: value, attribute: raw.type };
    } else if (raw.type === avpType.randomVector) vector = value;
    else if (!avps.has(raw.type)) avps.set(raw.type, value);
    at += avpHeaderBytes + raw.value.length;
  }
  return { avps, error, isTypeMandatory };
};

export const halfValue = (number: number): Uint8Array => Uint8Array.of(number >>> 8, number & 255);
export const wordValue = (number: number): Uint8Array =>
  Uint8Array.of(number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255);

/** The number of an attribute of two bytes; 0 without it. */
export const halfOf = (avps: AvpMap, type: number): number => {
  const value = avps.get(type);
  return value === undefined || value.length < 2 ? 0 : ((value[0] as number) << 8) | (value[1] as number);
};
