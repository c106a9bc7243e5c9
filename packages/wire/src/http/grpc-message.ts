/** Names of the status codes of gRPC, by number. */
const statusNames = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
  ...['INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
] as const;

export const grpcStatus = { ok: 0, unknown: 2, resourceExhausted: 8, unimplemented: 12, internal: 13 } as const;

/** Codes that do not exist count as UNKNOWN. */
export const grpcStatusName = (code: number): string => statusNames[code] ?? 'UNKNOWN';

const prefixBytes = 5;

/** Messages with the prefix that separates them on a stream. */
export const grpcFrames = (messages: readonly Uint8Array[], areCompressed = false): Uint8Array => {
  const bytes = new Uint8Array(messages.reduce((sum, { length }) => sum + prefixBytes + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const message of messages) {
    view.setUint8(at, areCompressed ? 1 : 0);
    view.setUint32(at + 1, message.length);
    bytes.set(message, at + prefixBytes);
    at += prefixBytes + message.length;
  }
  return bytes;
};

/** A stream that cannot be read on, and the status to end it with. */
export class GrpcError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Splits the body of a stream into messages. */
export class GrpcReader {
  readonly #maxBytes: number;
  readonly #decompress: ((message: Uint8Array) => Uint8Array) | undefined;
  #rest = new Uint8Array(0);

  /** `decompress` throws `GrpcError`; without it compressed messages are refused. */
  constructor(maxBytes: number, decompress?: (message: Uint8Array) => Uint8Array) {
    this.#maxBytes = maxBytes;
    this.#decompress = decompress;
  }

  /** True if no message has arrived in part. */
  get isBetween(): boolean {
    return this.#rest.length === 0;
  }

  /** Messages are valid during the call only. Throws `GrpcError`. */
  feed(bytes: Uint8Array, start: number, end: number, onMessage: (message: Uint8Array) => void): void {
    let data = bytes.subarray(start, end);
    if (this.#rest.length > 0) {
      const joined = new Uint8Array(this.#rest.length + data.length);
      joined.set(this.#rest);
      joined.set(data, this.#rest.length);
      data = joined;
    }
    let at = 0;
    while (data.length - at >= prefixBytes) {
      const length = this.#length(data, at);
      if (data.length - at - prefixBytes < length) break;
      const message = data.subarray(at + prefixBytes, at + prefixBytes + length);
      onMessage(data[at] === 1 ? (this.#decompress?.(message) ?? message) : message);
      at += prefixBytes + length;
    }
    this.#rest = new Uint8Array(data.subarray(at));
  }

  #length(bytes: Uint8Array, at: number): number {
    const flag = bytes[at] as number;
    if (flag > 1) throw new GrpcError(grpcStatus.internal, 'a message has an unknown flag');
    if (flag === 1 && this.#decompress === undefined)
      throw new GrpcError(grpcStatus.unimplemented, 'messages are not decompressed');
    const length = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4).getUint32(0);
    if (length > this.#maxBytes) throw new GrpcError(grpcStatus.resourceExhausted, 'a message is too long');
    return length;
  }
}
