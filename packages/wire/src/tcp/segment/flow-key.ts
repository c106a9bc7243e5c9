import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';

/**
 * Key of a flow, in 32-bit words: local address (4), remote address (4), local port × 65536 + remote port. IPv4
 * addresses are mapped to IPv6 (::ffff:0:0/96).
 */
export const flowWords = 9;
export const portsWord = 8;

const protocolNumber = 6;

/** Folded sum of addresses and protocol; ports and length are added with the segment. */
export const pseudoSumOf = (key: Int32Array): number => pseudoHeaderSum(key, 0, protocolNumber);
