import { copyOf } from '../bytes/memory.ts';
/** Numbers of EAP (RFC 3748 and the IANA registry). */
export const eapCode = { request: 1, response: 2, success: 3, failure: 4 } as const;
export const eapType = { identity: 1, notification: 2, nak: 3, msChapV2: 26 } as const;

const headBytes = 4;

export interface EapPacket {
  readonly code: number;
  readonly id: number;
  /** 0: success and failure have no type. */
  readonly type: number;
  readonly data: Uint8Array;
}

/** Reads a packet; undefined if it is not valid. */
export const readEap = (bytes: Uint8Array): EapPacket | undefined => {
  const [code = 0, id = 0, high = 0, low = 0] = bytes;
  const length = high * 256 + low;
  if (length < headBytes || length > bytes.length) return undefined;
  if (length === headBytes) return { code, id, type: 0, data: new Uint8Array(0) };
  return { code, id, type: bytes[headBytes] as number, data: copyOf(bytes, headBytes + 1, length) };
};

export const writeEap = ({ code, id, type, data }: EapPacket): Uint8Array => {
  const isTyped = type !== 0;
  const bytes = new Uint8Array(headBytes + (isTyped ? 1 + data.length : 0));
  bytes.set([code, id, bytes.length >>> 8, bytes.length & 255]);
  if (isTyped) {
    bytes[headBytes] = type;
    bytes.set(data, headBytes + 1);
  }
  return bytes;
};
