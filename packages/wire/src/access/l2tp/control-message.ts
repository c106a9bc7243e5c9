import { Memory } from '../../bytes/memory.ts';
import {
  type Avp,
  type AvpError,
  type AvpMap,
  avpError,
  avpType,
  type HidingKey,
  halfOf,
  halfValue,
  readAvps,
  writeAvps,
} from './avp.ts';
import { controlHeaderBytes, writeControlHeader } from './header.ts';

export const messageType = {
  sccrq: 1,
  sccrp: 2,
  scccn: 3,
  stopCcn: 4,
  hello: 6,
  ocrq: 7,
  ocrp: 8,
  occn: 9,
  icrq: 10,
  icrp: 11,
  iccn: 12,
  cdn: 14,
  wen: 15,
  sli: 16,
} as const;

/** Result codes of StopCCN (RFC 2661, 4.4.2). */
export const stopResult = {
  clear: 1,
  error: 2,
  notAuthorized: 4,
  version: 5,
  shutDown: 6,
  improperSequence: 7,
} as const;
/** Result codes of CDN. */
export const callResult = {
  lost: 1,
  error: 2,
  administrative: 3,
  noFacilities: 4,
  neverFacilities: 5,
  tooLate: 10,
} as const;

const start = [avpType.protocolVersion, avpType.hostName, avpType.framingCapabilities, avpType.assignedTunnelId];

/** What a message must have. */
const requiredAvps = new Map<number, readonly number[]>([
  [messageType.sccrq, start],
  [messageType.sccrp, start],
  [messageType.scccn, []],
  [messageType.stopCcn, [avpType.assignedTunnelId, avpType.resultCode]],
  [messageType.hello, []],
  [messageType.ocrq, [avpType.assignedSessionId]],
  [messageType.ocrp, [avpType.assignedSessionId]],
  [messageType.occn, []],
  [messageType.icrq, [avpType.assignedSessionId, avpType.callSerialNumber]],
  [messageType.icrp, [avpType.assignedSessionId]],
  [messageType.iccn, [avpType.connectSpeed, avpType.framingType]],
  [messageType.cdn, [avpType.resultCode, avpType.assignedSessionId]],
  [messageType.wen, []],
  [messageType.sli, []],
]);

/** Attributes whose value 0 is out of range. */
const positive = [avpType.assignedTunnelId, avpType.receiveWindow];

export interface ControlMessage {
  readonly type: number;
  readonly sessionId: number;
  readonly avps: AvpMap;
  /** Why the message cannot be accepted. */
  readonly error: AvpError | undefined;
  /** Not of RFC 2661; it is ignored unless it is mandatory. */
  readonly isUnknown: boolean;
  readonly isMandatory: boolean;
}

const errorOf = (type: number, avps: AvpMap): AvpError | undefined => {
  const missing = requiredAvps.get(type)?.find((attribute) => !avps.has(attribute));
  if (missing !== undefined) return { code: avpError.value, attribute: missing };
  const zero = positive.find((attribute) => avps.has(attribute) && halfOf(avps, attribute) === 0);
  if (zero !== undefined) return { code: avpError.value, attribute: zero };
  const isCallOffer = type === messageType.icrq || type === messageType.icrp;
  return isCallOffer && halfOf(avps, avpType.assignedSessionId) === 0
    ? { code: avpError.value, attribute: avpType.assignedSessionId }
    : undefined;
};

/** Reads the AVPs [start, end) of a control message; undefined if they are not AVPs. */
export const readControl = (
  memory: Memory,
  { payload, end, sessionId }: { readonly payload: number; readonly end: number; readonly sessionId: number },
  secret: Uint8Array,
): ControlMessage | undefined => {
  const reading = readAvps(memory, payload, end, secret);
  if (reading === undefined) return undefined;
  const { avps, isTypeMandatory } = reading;
  const type = halfOf(avps, avpType.messageType);
  return {
    type,
    sessionId,
    avps,
    error: reading.error ?? errorOf(type, avps),
    isUnknown: !requiredAvps.has(type),
    isMandatory: isTypeMandatory,
  };
};

/** Attributes that are hidden where there is a secret: who a subscriber is. */
const hiddenTypes: ReadonlySet<number> = new Set([
  avpType.callingNumber,
  avpType.proxyAuthName,
  avpType.proxyAuthChallenge,
  avpType.proxyAuthResponse,
]);

/** Writes a control message whose numbers are still 0; with a key, what identifies a subscriber is hidden. */
export const writeControl = (
  type: number,
  { tunnelId, sessionId }: { readonly tunnelId: number; readonly sessionId: number },
  avps: readonly Avp[],
  key?: HidingKey,
): Uint8Array => {
  const all = [{ type: avpType.messageType, value: halfValue(type) }, ...avps];
  const body = writeAvps(all, key && { key, types: hiddenTypes });
  const memory = new Memory(new Uint8Array(controlHeaderBytes + body.length));
  memory.bytes.set(body, controlHeaderBytes);
  writeControlHeader(memory, 0, memory.bytes.length, { tunnelId, sessionId, ns: 0, nr: 0 });
  return memory.bytes;
};
