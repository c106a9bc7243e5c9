import { gunzipSync, gzipSync } from 'node:zlib';
import type { GrpcSettings } from '@rushhour/protocol';
import { GrpcError, grpcFrames, grpcStatus } from '@rushhour/wire';

/** Longest message that is taken, as in other implementations. */
export const maxMessageBytes = 4_194_304;

export const decompressed = (message: Uint8Array): Uint8Array => {
  try {
    return gunzipSync(message, { maxOutputLength: maxMessageBytes });
  } catch {
    throw new GrpcError(grpcStatus.internal, 'a message cannot be decompressed');
  }
};

/** Messages are sent many times and compressed once. */
const known = new WeakMap<Uint8Array, Uint8Array>();

const compressed = (message: Uint8Array): Uint8Array => {
  const bytes = known.get(message) ?? gzipSync(message);
  known.set(message, bytes);
  return bytes;
};

export const framed = (messages: readonly Uint8Array[], compression: GrpcSettings['compression']): Uint8Array =>
  compression === 'gzip' ? grpcFrames(messages.map(compressed), true) : grpcFrames(messages);
