import { md5 } from '../../bytes/md5.ts';
import type { Memory } from '../../bytes/memory.ts';
import { isMappedAddress } from '../../ip/address.ts';

/** What a signature takes among the options: two NOPs before it keep the others aligned. */
export const signatureBytes = 20;
export const digestBytes = 16;

/** NOP, NOP, kind 19, length 18. */
const signaturePrefix = 0x01011312;
const fixedHeaderBytes = 20;
const checksumAt = 16;
const protocolNumber = 6;
const addressWords = 4;

export interface SignedFlow {
  /** Holds local and remote address (8 words) at `at`. */
  readonly keys: Int32Array;
  readonly at: number;
  readonly secret: Uint8Array;
}

/** Source, destination, protocol and length, as the checksum covers them. Returns where they end. */
const writePseudoHeader = (view: DataView, { keys, at }: SignedFlow, isOurs: boolean, length: number): number => {
  const isV4 = isMappedAddress(keys, at);
  let end = 0;
  for (const start of isOurs ? [at, at + addressWords] : [at + addressWords, at])
    for (let word = isV4 ? addressWords - 1 : 0; word < addressWords; word++, end += 4)
      view.setInt32(end, keys[start + word] as number);
  if (isV4) view.setInt32(end, (protocolNumber << 16) | length);
  else {
    view.setInt32(end, length);
    view.setInt32(end + 4, protocolNumber);
    end += 4;
  }
  return end + 4;
};

/**
 * Digest of the segment [start, end) (RFC 2385, section 2.0): pseudo-header, header without options and with a checksum
 * of zero, data, key. `isOurs`: the local end has sent it.
 */
export const segmentDigest = (
  { bytes }: Memory,
  { start, end, isOurs }: { readonly start: number; readonly end: number; readonly isOurs: boolean },
  flow: SignedFlow,
): Uint8Array => {
  const dataStart = start + (((bytes[start + 12] as number) >>> 4) << 2);
  const text = new Uint8Array(40 + fixedHeaderBytes + end - dataStart + flow.secret.length);
  const view = new DataView(text.buffer);
  const headerAt = writePseudoHeader(view, flow, isOurs, end - start);
  text.set(bytes.subarray(start, start + fixedHeaderBytes), headerAt);
  view.setUint16(headerAt + checksumAt, 0);
  text.set(bytes.subarray(dataStart, end), headerAt + fixedHeaderBytes);
  const secretAt = headerAt + fixedHeaderBytes + end - dataStart;
  text.set(flow.secret, secretAt);
  return md5(text.subarray(0, secretAt + flow.secret.length));
};

/** Signs a segment that is complete but for its checksum and the first of its options, which is the signature. */
export const signSegment = (memory: Memory, start: number, end: number, flow: SignedFlow): void => {
  const at = start + fixedHeaderBytes;
  memory.view.setInt32(at, signaturePrefix);
  memory.bytes.set(segmentDigest(memory, { start, end, isOurs: true }, flow), at + signatureBytes - digestBytes);
};
