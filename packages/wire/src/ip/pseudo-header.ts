import { checksumOf, foldSum, sumBytes } from '../bytes/checksum.ts';
import type { Memory } from '../bytes/memory.ts';
import { isMappedAddress } from './address.ts';
import { ipProtocol } from './header-fields.ts';

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

/** Writes the checksum of a TCP segment or UDP datagram that its sender has left to hardware. */
export const completeChecksum = (
  addresses: Int32Array,
  protocol: number,
  memory: Memory,
  start: number,
  end: number,
): void => {
  const offset = protocol === ipProtocol.tcp ? 16 : protocol === ipProtocol.udp ? 6 : -1;
  if (offset < 0 || end - start < offset + 2) return;
  memory.view.setUint16(start + offset, 0);
  const sum = checksumOf(pseudoHeaderSum(addresses, 0, protocol) + (end - start) + sumBytes(memory, start, end));
  memory.view.setUint16(start + offset, sum === 0 && protocol === ipProtocol.udp ? 0xffff : sum);
};
