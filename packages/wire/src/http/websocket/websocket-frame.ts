/** Kinds of frames (RFC 6455, section 5.2). */
export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Codes of the close frame (RFC 6455, section 7.4.1). */
export const closeCode = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  unsupported: 1003,
  noStatus: 1005,
  abnormal: 1006,
  invalidPayload: 1007,
  tooBig: 1009,
} as const;

const codes: ReadonlySet<number> = new Set([1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014]);

/** Whether a close frame may carry the code. */
export const isCloseCode = (code: number): boolean => codes.has(code) || (code >= 3000 && code <= 4999);

/** An error that ends the connection, with the code of the close frame. */
export class WebSocketError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface WebSocketFrame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly isCompressed: boolean;
  /** Unmasked; valid only during the call. */
  readonly payload: Uint8Array;
}

/** XORs bytes with the key, beginning with its first byte. */
export const applyMask = (bytes: Uint8Array, key: number): void => {
  const parts = [key >>> 24, (key >>> 16) & 255, (key >>> 8) & 255, key & 255];
  const [a, b, c, d] = parts as [number, number, number, number];
  const whole = bytes.length - (bytes.length % 4);
  for (let at = 0; at < whole; at += 4) {
    bytes[at] = (bytes[at] as number) ^ a;
    bytes[at + 1] = (bytes[at + 1] as number) ^ b;
    bytes[at + 2] = (bytes[at + 2] as number) ^ c;
    bytes[at + 3] = (bytes[at + 3] as number) ^ d;
  }
  for (let at = whole; at < bytes.length; at++) bytes[at] = (bytes[at] as number) ^ (parts[at - whole] as number);
};

export interface FrameOptions {
  readonly isFinal?: boolean;
  readonly isCompressed?: boolean;
  /** Frames of clients are masked; those of servers are not. */
  readonly mask?: number | undefined;
}

/** The bytes of one frame. */
export const frameBytes = (kind: number, payload: Uint8Array, options: FrameOptions = {}): Uint8Array => {
  const { isFinal = true, isCompressed = false, mask } = options;
  const { length } = payload;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = 2 + lengthBytes + (mask === undefined ? 0 : 4);
  const bytes = new Uint8Array(head + length);
  const view = new DataView(bytes.buffer);
  bytes[0] = (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | kind;
  bytes[1] = (mask === undefined ? 0 : 0x80) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) view.setUint16(2, length);
  else if (lengthBytes === 8) view.setBigUint64(2, BigInt(length));
  bytes.set(payload, head);
  if (mask !== undefined) {
    view.setUint32(head - 4, mask);
    applyMask(bytes.subarray(head), mask);
  }
  return bytes;
};
