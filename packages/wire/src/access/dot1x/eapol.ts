import { md5 } from '../../bytes/md5.ts';
import type { Memory } from '../../bytes/memory.ts';

/** EtherType of EAP over LAN, and the group that its frames are sent to (IEEE 802.1X). */
export const eapolType = 0x888e;
export const portAccessMac: Uint8Array = Uint8Array.of(0x01, 0x80, 0xc2, 0, 0, 3);

export const eapolKind = { eap: 0, start: 1, logoff: 2 } as const;
export const eapCode = { request: 1, response: 2, success: 3, failure: 4 } as const;
export const eapMethod = { identity: 1, notification: 2, nak: 3, md5: 4 } as const;

const headBytes = 4;
const eapHeadBytes = 4;
export const md5Bytes = 16;
/** Largest frame body of ends that need no long messages. */
export const maxEapolBytes = 600;

/** An EAPOL frame, parsed into one object that is used again. */
export class EapolFrame {
  kind = 0;
  code = 0;
  id = 0;
  /** 0: success and failure have none. */
  method = 0;
  /** Where the message of EAP begins. */
  start = 0;
  /** Where the data of the method are. */
  data = 0;
  end = 0;

  /** Reads the frame body [at, end); false if it is not valid. */
  parse({ view }: Memory, at: number, end: number): boolean {
    if (end - at < headBytes) return false;
    this.kind = view.getUint8(at + 1);
    const eap = at + headBytes;
    const bodyEnd = eap + view.getUint16(at + 2);
    if (bodyEnd > end) return false;
    if (this.kind !== eapolKind.eap) return true;
    if (bodyEnd - eap < eapHeadBytes) return false;
    const length = view.getUint16(eap + 2);
    if (length < eapHeadBytes || eap + length > bodyEnd) return false;
    this.start = eap;
    this.code = view.getUint8(eap);
    this.id = view.getUint8(eap + 1);
    this.method = length > eapHeadBytes ? view.getUint8(eap + eapHeadBytes) : 0;
    this.data = Math.min(eap + eapHeadBytes + 1, eap + length);
    this.end = eap + length;
    return true;
  }
}

export interface EapMessage {
  readonly code: number;
  readonly id: number;
  /** 0: success and failure have none. */
  readonly method: number;
  readonly data: Uint8Array;
}

/** Bytes of a frame body with a message. */
export const eapolBytes = ({ data }: EapMessage): number => headBytes + eapHeadBytes + 1 + data.length;

/** Reads a message of EAP as another machine has made it; undefined if it is not valid. */
export const readEap = (packet: Uint8Array): EapMessage | undefined => {
  if (packet.length < eapHeadBytes) return undefined;
  const length = ((packet[2] as number) << 8) | (packet[3] as number);
  if (length < eapHeadBytes || length > packet.length) return undefined;
  const method = length > eapHeadBytes ? (packet[eapHeadBytes] as number) : 0;
  const data = packet.subarray(Math.min(eapHeadBytes + 1, length), length);
  return { code: packet[0] as number, id: packet[1] as number, method, data };
};

export const noData: Uint8Array = new Uint8Array(0);

/** Writes an EAPOL frame body with a message of EAP, or without one; returns its end. */
export const writeEapol = (
  { bytes, view }: Memory,
  at: number,
  { version, kind, eap }: { readonly version: number; readonly kind: number; readonly eap?: EapMessage },
): number => {
  const typed = eap === undefined || eap.method === 0 ? 0 : 1 + eap.data.length;
  const length = eap === undefined ? 0 : eapHeadBytes + typed;
  view.setUint8(at, version);
  view.setUint8(at + 1, kind);
  view.setUint16(at + 2, length);
  if (eap === undefined) return at + headBytes;
  const body = at + headBytes;
  view.setUint8(body, eap.code);
  view.setUint8(body + 1, eap.id);
  view.setUint16(body + 2, length);
  if (eap.method !== 0) {
    view.setUint8(body + eapHeadBytes, eap.method);
    bytes.set(eap.data, body + eapHeadBytes + 1);
  }
  return body + length;
};

/** The proof of a password (RFC 3748, 5.4). */
export const md5Proof = (id: number, password: Uint8Array, challenge: Uint8Array): Uint8Array => {
  const text = new Uint8Array(1 + password.length + challenge.length);
  text[0] = id;
  text.set(password, 1);
  text.set(challenge, 1 + password.length);
  return md5(text);
};

/** The value of EAP-MD5 that the data [at, end) begin with: a length and so many bytes; undefined if it is cut off. */
export const readMd5Value = ({ bytes }: Memory, at: number, end: number): Uint8Array | undefined => {
  const length = at < end ? (bytes[at] as number) : 0;
  return length > 0 && at + 1 + length <= end ? new Uint8Array(bytes.subarray(at + 1, at + 1 + length)) : undefined;
};

export const writeMd5Value = (value: Uint8Array, name: Uint8Array): Uint8Array => {
  const data = new Uint8Array(1 + value.length + name.length);
  data[0] = value.length;
  data.set(value, 1);
  data.set(name, 1 + value.length);
  return data;
};
