import { foldSum } from '../bytes/checksum.ts';
import { isMappedAddress } from './address.ts';

/** Folded sum of local and remote address (8 words) and protocol; the length is added with the packet. */
export const pseudoHeaderSum = (addresses: Int32Array, at: number, protocol: number): number => {
  let sum = protocol;
  for (let i = isMappedAddress(addresses, at) ? 3 : 0; i < 4; i++) {
    const local = addresses[at + i] as number;
    const remote = addresses[at + i + 4] as number;
    sum += (local >>> 16) + (local & 0xffff) + (remote >>> 16) + (remote & 0xffff);
  }
  return foldSum(sum);
};
