import { hmacMd5 } from '../../bytes/hmac-md5.ts';
import { md5 } from '../../bytes/md5.ts';
import { isSameBytes } from '../../bytes/memory.ts';

export const radiusCode = {
  accessRequest: 1,
  accessAccept: 2,
  accessReject: 3,
  accountingRequest: 4,
  accountingResponse: 5,
  accessChallenge: 11,
} as const;

/** Attributes of RFC 2865, 2866, 2869 and 3579 that are used here. */
export const radiusAttribute = {
  userName: 1,
  userPassword: 2,
  chapPassword: 3,
  serviceType: 6,
  framedProtocol: 7,
  framedAddress: 8,
  framedMtu: 12,
  replyMessage: 18,
  state: 24,
  class: 25,
  vendorSpecific: 26,
  sessionTimeout: 27,
  callingStationId: 31,
  nasIdentifier: 32,
  acctStatusType: 40,
  acctInputOctets: 42,
  acctOutputOctets: 43,
  acctSessionId: 44,
  acctAuthentic: 45,
  acctSessionTime: 46,
  acctInputPackets: 47,
  acctOutputPackets: 48,
  acctTerminateCause: 49,
  acctInputGigawords: 52,
  acctOutputGigawords: 53,
  chapChallenge: 60,
  nasPortType: 61,
  eapMessage: 79,
  messageAuthenticator: 80,
  acctInterimInterval: 85,
  nasPortId: 87,
  framedPool: 88,
} as const;

/** Attributes of the vendor Microsoft (RFC 2548). */
export const microsoft = { vendor: 311, chapError: 2, chapChallenge: 11, chap2Response: 25, chap2Success: 26 } as const;

const headBytes = 20;
const authenticatorAt = 4;
const authenticatorBytes = 16;
const attributeHeadBytes = 2;
const vendorHeadBytes = 6;
export const maxAttributeBytes = 253;
export const maxRadiusBytes = 4096;

export interface RadiusAttribute {
  readonly type: number;
  readonly value: Uint8Array;
}

export interface RadiusMessage {
  readonly code: number;
  readonly id: number;
  readonly authenticator: Uint8Array;
  readonly attributes: readonly RadiusAttribute[];
}

const encoder = new TextEncoder();

export const textAttribute = (type: number, text: string): RadiusAttribute => ({
  type,
  value: encoder.encode(text).subarray(0, maxAttributeBytes),
});

export const numberAttribute = (type: number, number: number): RadiusAttribute => {
  const value = new Uint8Array(4);
  new DataView(value.buffer).setUint32(0, number >>> 0);
  return { type, value };
};

/** An attribute of the vendor Microsoft. */
export const microsoftAttribute = (kind: number, data: Uint8Array): RadiusAttribute => {
  const value = new Uint8Array(vendorHeadBytes + data.length);
  const view = new DataView(value.buffer);
  view.setUint32(0, microsoft.vendor);
  view.setUint8(4, kind);
  view.setUint8(5, attributeHeadBytes + data.length);
  value.set(data, vendorHeadBytes);
  return { type: radiusAttribute.vendorSpecific, value };
};

/** A packet of EAP in as many attributes as it needs (RFC 3579). */
export const eapAttributes = (packet: Uint8Array): RadiusAttribute[] =>
  Array.from({ length: Math.max(Math.ceil(packet.length / maxAttributeBytes), 1) }, (_, i) => ({
    type: radiusAttribute.eapMessage,
    value: packet.subarray(i * maxAttributeBytes, (i + 1) * maxAttributeBytes),
  }));

export const findAttribute = (attributes: readonly RadiusAttribute[], type: number): Uint8Array | undefined =>
  attributes.find((one) => one.type === type)?.value;

/** The number that an attribute of four bytes holds. */
export const findNumber = (attributes: readonly RadiusAttribute[], type: number): number | undefined => {
  const value = findAttribute(attributes, type);
  return value?.length === 4 ? new DataView(value.buffer, value.byteOffset).getUint32(0) : undefined;
};

/** The values of one type after each other, as EAP-Message is read. */
export const joinedAttributes = (attributes: readonly RadiusAttribute[], type: number): Uint8Array =>
  joinBytes(attributes.filter((one) => one.type === type).map(({ value }) => value));

/** The data of an attribute of the vendor Microsoft. */
export const findMicrosoft = (attributes: readonly RadiusAttribute[], kind: number): Uint8Array | undefined => {
  for (const { type, value } of attributes) {
    if (type !== radiusAttribute.vendorSpecific || value.length < vendorHeadBytes) continue;
    const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
    if (view.getUint32(0) !== microsoft.vendor) continue;
    for (let at = 4; at + attributeHeadBytes <= value.length; ) {
      const length = view.getUint8(at + 1);
      if (length < attributeHeadBytes || at + length > value.length) break;
      if (view.getUint8(at) === kind) return value.subarray(at + attributeHeadBytes, at + length);
      at += length;
    }
  }
  return undefined;
};

export const joinBytes = (parts: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** A password as User-Password carries it (RFC 2865, 5.2). */
export const hidePassword = (password: Uint8Array, secret: Uint8Array, authenticator: Uint8Array): Uint8Array => {
  const size = authenticatorBytes;
  const hidden = new Uint8Array(Math.min(Math.max(Math.ceil(password.length / size), 1), 8) * size);
  hidden.set(password.subarray(0, hidden.length));
  let before = authenticator;
  for (let at = 0; at < hidden.length; at += size) {
    const mask = md5(joinBytes([secret, before]));
    for (let i = 0; i < size; i++) hidden[at + i] = (hidden[at + i] as number) ^ (mask[i] as number);
    before = hidden.subarray(at, at + size);
  }
  return hidden;
};

/** Writes a message as it is, with the authenticator given. */
const writePlain = ({ code, id, authenticator, attributes }: RadiusMessage): Uint8Array => {
  const body = attributes.map(({ type, value }) =>
    joinBytes([Uint8Array.of(type, attributeHeadBytes + value.length), value]),
  );
  const bytes = joinBytes([new Uint8Array(headBytes), ...body]);
  bytes[0] = code;
  bytes[1] = id;
  new DataView(bytes.buffer).setUint16(2, bytes.length);
  bytes.set(authenticator, authenticatorAt);
  return bytes;
};

const blankProof: RadiusAttribute = {
  type: radiusAttribute.messageAuthenticator,
  value: new Uint8Array(authenticatorBytes),
};

/** Writes a request of access, with a Message-Authenticator before all other attributes. */
export const writeAccessRequest = (message: Omit<RadiusMessage, 'code'>, secret: Uint8Array): Uint8Array => {
  const attributes = [blankProof, ...message.attributes];
  const bytes = writePlain({ ...message, code: radiusCode.accessRequest, attributes });
  bytes.set(hmacMd5(secret, bytes), headBytes + attributeHeadBytes);
  return bytes;
};

/** Writes a request of accounting, whose authenticator is computed from it. */
export const writeAccountingRequest = (
  { id, attributes }: Pick<RadiusMessage, 'id' | 'attributes'>,
  secret: Uint8Array,
): Uint8Array => {
  const authenticator = new Uint8Array(authenticatorBytes);
  const bytes = writePlain({ code: radiusCode.accountingRequest, id, authenticator, attributes });
  bytes.set(md5(joinBytes([bytes, secret])), authenticatorAt);
  return bytes;
};

/** Reads a message; undefined if it is not valid. The values share the memory of the message. */
export const readRadius = (bytes: Uint8Array): RadiusMessage | undefined => {
  if (bytes.length < headBytes || bytes.length > maxRadiusBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = view.getUint16(2);
  if (end < headBytes || end > bytes.length) return undefined;
  const attributes: RadiusAttribute[] = [];
  for (let at = headBytes; at < end; ) {
    const length = at + attributeHeadBytes <= end ? view.getUint8(at + 1) : 0;
    if (length < attributeHeadBytes || at + length > end) return undefined;
    attributes.push({ type: view.getUint8(at), value: bytes.subarray(at + attributeHeadBytes, at + length) });
    at += length;
  }
  const authenticator = bytes.subarray(authenticatorAt, headBytes);
  return { code: view.getUint8(0), id: view.getUint8(1), authenticator, attributes };
};

/** Whether an answer comes from who knows the secret: by its authenticator and, if it has one, its Message-Authenticator. */
export const isGenuine = (bytes: Uint8Array, asked: Uint8Array, secret: Uint8Array): boolean => {
  const message = readRadius(bytes);
  if (message === undefined) return false;
  const text = new Uint8Array(bytes.subarray(0, new DataView(bytes.buffer, bytes.byteOffset).getUint16(2)));
  text.set(asked, authenticatorAt);
  if (!isSameBytes(message.authenticator, md5(joinBytes([text, secret])))) return false;
  const proofs = message.attributes.filter(({ type }) => type === radiusAttribute.messageAuthenticator);
  const carriesEap = message.attributes.some(({ type }) => type === radiusAttribute.eapMessage);
  if (proofs.length === 0) return !carriesEap;
  const [proof] = proofs as [RadiusAttribute];
  if (proofs.length > 1 || proof.value.length !== authenticatorBytes) return false;
  text.fill(
    0,
    proof.value.byteOffset - bytes.byteOffset,
    proof.value.byteOffset - bytes.byteOffset + authenticatorBytes,
  );
  return isSameBytes(proof.value, hmacMd5(secret, text));
};
