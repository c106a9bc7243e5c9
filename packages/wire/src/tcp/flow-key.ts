import { foldSum } from '../bytes/checksum.ts';

/**
 * Key of a flow, in 32-bit words: local address (4), remote address (4), local port × 65536 + remote port. IPv4
 * addresses are mapped to IPv6 (::ffff:0:0/96).
 */
export const flowWords = 9;
export const portsWord = 8;

const protocolNumber = 6;

/** True for an IPv4 address in the words from `at` on. */
export const isMapped = (key: Int32Array, at: number): boolean =>
  key[at] === 0 && key[at + 1] === 0 && key[at + 2] === 0xffff;

/** Folded sum of addresses and protocol; ports and length are added with the segment. */
export const pseudoSumOf = (key: Int32Array): number => {
  let sum = protocolNumber;
  const first = isMapped(key, 0) ? 3 : 0;
  for (let i = first; i < 4; i++) {
    const local = key[i] as number;
    const remote = key[i + 4] as number;
    sum += (local >>> 16) + (local & 0xffff) + (remote >>> 16) + (remote & 0xffff);
  }
  return foldSum(sum);
};
