import type { MessageWriter } from '../message-writer.ts';

export const ldpPort = 646;
const version = 1;
const headerBytes = 10;
/** A PDU before another limit is agreed on (RFC 5036, section 3.5.3). */
export const maxLdpPdu = 4096;

export const ldpType = {
  notification: 0x0001,
  hello: 0x0100,
  initialization: 0x0200,
  keepalive: 0x0201,
  capability: 0x0202,
  address: 0x0300,
  addressWithdraw: 0x0301,
  labelMapping: 0x0400,
  labelRequest: 0x0401,
  labelWithdraw: 0x0402,
  labelRelease: 0x0403,
  labelAbort: 0x0404,
} as const;

export const ldpTlv = {
  fec: 0x0100,
  addresses: 0x0101,
  hopCount: 0x0103,
  pathVector: 0x0104,
  label: 0x0200,
  status: 0x0300,
  extendedStatus: 0x0301,
  returnedPdu: 0x0302,
  returnedMessage: 0x0303,
  helloParameters: 0x0400,
  ipv4Transport: 0x0401,
  configurationSequence: 0x0402,
  ipv6Transport: 0x0403,
  macList: 0x0404,
  sessionParameters: 0x0500,
  restart: 0x0503,
  pointToMultipoint: 0x0508,
  multipointToMultipoint: 0x0509,
  makeBeforeBreak: 0x050a,
  typedWildcard: 0x050b,
  requestId: 0x0600,
  dualStack: 0x0701,
  wireStatus: 0x096a,
  interfaceParameters: 0x096b,
  wireGroup: 0x096c,
  multipointStatus: 0x096f,
} as const;

export const ldpStatus = {
  badIdentifier: 0x01,
  badVersion: 0x02,
  badPduLength: 0x03,
  unknownMessage: 0x04,
  badMessageLength: 0x05,
  unknownTlv: 0x06,
  badTlvLength: 0x07,
  malformedValue: 0x08,
  holdTimerExpired: 0x09,
  shutdown: 0x0a,
  unknownFec: 0x0c,
  noRoute: 0x0d,
  noHello: 0x10,
  advertisementMode: 0x11,
  keepaliveExpired: 0x14,
  missingParameters: 0x16,
  unsupportedFamily: 0x17,
  badKeepaliveTime: 0x18,
  wrongControlWord: 0x25,
  wireStatus: 0x28,
} as const;

/** Errors after which the session goes on; all others end it. */
const advisory: ReadonlySet<number> = new Set([
  ...[ldpStatus.unknownMessage, ldpStatus.unknownTlv, ldpStatus.unknownFec, ldpStatus.noRoute],
  ...[ldpStatus.missingParameters, ldpStatus.unsupportedFamily],
]);

/** What a NOTIFICATION says is wrong. */
export class LdpError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(describeLdpStatus(status));
    this.status = status;
  }

  get isFatal(): boolean {
    return !advisory.has(this.status);
  }
}

export const describeLdpStatus = (status: number): string => {
  const name = Object.entries(ldpStatus).find(([, value]) => value === status)?.[0];
  return name === undefined ? `status ${status}` : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
};

export interface LdpTlv {
  /** Without the bits for receivers that do not know it. */
  readonly type: number;
  readonly value: Uint8Array;
}

export interface LdpMessage {
  readonly type: number;
  readonly id: number;
  readonly tlvs: readonly LdpTlv[];
}

export interface LdpPdu {
  readonly lsrId: number;
  readonly messages: readonly LdpMessage[];
}

const writeSized = (writer: MessageWriter, write: () => void): void => {
  const at = writer.reserve(2);
  write();
  writer.view.setUint16(at, writer.length - at - 2);
};

export const writeTlv = (writer: MessageWriter, type: number, write: () => void): void => {
  writer.u16(type);
  writeSized(writer, write);
};

export const writeLdpMessage = (writer: MessageWriter, type: number, id: number, write: () => void): void => {
  writer.u16(type);
  writeSized(writer, () => {
    writer.u32(id);
    write();
  });
};

export const writePdu = (writer: MessageWriter, lsrId: number, write: () => void): void => {
  writer.u16(version);
  writeSized(writer, () => {
    writer.u32(lsrId).u16(0);
    write();
  });
};

const knownTypes: ReadonlySet<number> = new Set(Object.values(ldpType));
const knownTlvs: ReadonlySet<number> = new Set(Object.values(ldpTlv));
const unknownBit = 0x8000;
const typeMask = 0x3fff;

/** Length of the PDU at the start of the bytes; 0: not all of its header is there yet. */
export const ldpPduLength = (bytes: Uint8Array, maxLength = maxLdpPdu): number => {
  if (bytes.length < 4) return 0;
  const view = viewOf(bytes);
  if (view.getUint16(0) !== version) throw new LdpError(ldpStatus.badVersion);
  const length = view.getUint16(2) + 4;
  if (length < headerBytes || length > maxLength) throw new LdpError(ldpStatus.badPduLength);
  return length;
};

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads a whole PDU. Each message that cannot be used, but can be skipped, is handed to `refuse`. */
export const parsePdu = (bytes: Uint8Array, refuse: (error: LdpError) => void = () => {}): LdpPdu => {
  if (ldpPduLength(bytes, bytes.length) !== bytes.length) throw new LdpError(ldpStatus.badPduLength);
  const view = viewOf(bytes);
  const messages: LdpMessage[] = [];
  if (view.getUint16(8) !== 0) throw new LdpError(ldpStatus.badIdentifier);
  for (let at = headerBytes; at < bytes.length; ) {
    if (at + 8 > bytes.length) throw new LdpError(ldpStatus.badMessageLength);
    const type = view.getUint16(at);
    const end = at + 4 + view.getUint16(at + 2);
    if (end > bytes.length || end < at + 8) throw new LdpError(ldpStatus.badMessageLength);
    if (knownTypes.has(type)) {
      const tlvs = parseTlvs(bytes.subarray(at + 8, end), refuse);
      if (tlvs !== undefined) messages.push({ type, id: view.getUint32(at + 4), tlvs });
    } else if ((type & unknownBit) === 0) refuse(new LdpError(ldpStatus.unknownMessage));
    at = end;
  }
  return { lsrId: view.getUint32(4), messages };
};

const parseTlvs = (bytes: Uint8Array, refuse: (error: LdpError) => void): LdpTlv[] | undefined => {
  const view = viewOf(bytes);
  const tlvs: LdpTlv[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw new LdpError(ldpStatus.badTlvLength);
    const bits = view.getUint16(at);
    const type = bits & typeMask;
    const end = at + 4 + view.getUint16(at + 2);
    if (end > bytes.length) throw new LdpError(ldpStatus.badTlvLength);
    if (knownTlvs.has(type)) tlvs.push({ type, value: bytes.subarray(at + 4, end) });
    else if ((bits & unknownBit) === 0) {
      refuse(new LdpError(ldpStatus.unknownTlv));
      return undefined;
    }
    at = end;
  }
  return tlvs;
};

/** The value of a TLV of at least that length; undefined: the message has none. */
export const findTlv = ({ tlvs }: LdpMessage, type: number, minLength: number): DataView | undefined => {
  const value = tlvs.find((one) => one.type === type)?.value;
  if (value === undefined) return undefined;
  if (value.length < minLength) throw new LdpError(ldpStatus.badTlvLength);
  return viewOf(value);
};

export const requireTlv = (message: LdpMessage, type: number, minLength: number): DataView => {
  const value = findTlv(message, type, minLength);
  if (value === undefined) throw new LdpError(ldpStatus.missingParameters);
  return value;
};
