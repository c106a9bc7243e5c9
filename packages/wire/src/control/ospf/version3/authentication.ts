import { isSameBytes } from '../../../bytes/memory.ts';
import { MessageWriter } from '../../message-writer.ts';

/** The authentication trailer of all packets of an interface (RFC 7166). */
export type Version3Authentication =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'digest';
      /** Number of the security association. */
      readonly keyId: number;
      readonly length: number;
      /** The upper half of all sequence numbers: greater than in earlier lives of the router. */
      readonly epoch: number;
      /** Digest of a packet with the key, `length` bytes. */
      digest(packet: Uint8Array): Uint8Array;
    };

export type Version3Digest = Extract<Version3Authentication, { kind: 'digest' }>;

/** Bit of the options of hellos and descriptions. */
export const hasTrailer = 0x400;
const trailerType = 1;
const trailerBytes = 16;
const addressBytes = 16;

/** What stands in the place of the digest while it is made: the source, then a constant. */
const fillerOf = (source: Int32Array, length: number): Uint8Array => {
  const writer = new MessageWriter(64);
  for (const word of source) writer.u32(word);
  for (let at = addressBytes; at < length; at += 4) writer.u32(0x878fe1f3);
  return writer.take().subarray(0, length);
};

/** Bytes that follow a packet. */
export const trailerBytesOf = (authentication: Version3Authentication): number =>
  authentication.kind === 'none' ? 0 : trailerBytes + authentication.length;

/** The packet with its trailer. */
export const withTrailer = (
  packet: Uint8Array,
  { keyId, length, epoch, digest }: Version3Digest,
  { source, sequence }: { readonly source: Int32Array; readonly sequence: number },
): Uint8Array => {
  const writer = new MessageWriter(packet.length + trailerBytes + length).copy(packet);
  writer
    .u16(trailerType)
    .u16(trailerBytes + length)
    .u16(0)
    .u16(keyId)
    .u32(epoch)
    .u32(sequence);
  writer.copy(fillerOf(source, length));
  const bytes = writer.take();
  bytes.set(digest(bytes), bytes.length - length);
  return bytes;
};

/** Sequence number of a packet of `packetBytes` bytes whose trailer is right; undefined: it is to be discarded. */
export const sequenceOf = (
  bytes: Uint8Array,
  packetBytes: number,
  { keyId, length, digest }: Version3Digest,
  source: Int32Array,
): bigint | undefined => {
  // A block of link-local signalling may lie between both.
  const at = bytes.length - trailerBytes - length;
  if (at < packetBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isExpected = view.getUint16(at) === trailerType && view.getUint16(at + 2) === trailerBytes + length;
  if (!isExpected || view.getUint16(at + 6) !== keyId) return undefined;
  const copy = new Uint8Array(bytes);
  copy.set(fillerOf(source, length), at + trailerBytes);
  if (!isSameBytes(digest(copy), bytes.subarray(at + trailerBytes))) return undefined;
  return view.getBigUint64(at + 8);
};

/** Refuses packets that were sent before: numbers grow for each type of packet of a neighbour. */
export class SequenceCheck {
  readonly #last = new Map<string, bigint>();

  accepts(routerId: number, type: number, sequence: bigint): boolean {
    const key = `${routerId} ${type}`;
    if (sequence <= (this.#last.get(key) ?? -1n)) return false;
    this.#last.set(key, sequence);
    return true;
  }

  forget(routerId: number): void {
    for (const key of [...this.#last.keys()]) if (key.startsWith(`${routerId} `)) this.#last.delete(key);
  }
}
