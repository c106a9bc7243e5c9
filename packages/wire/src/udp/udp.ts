import { checksumOf, isSumValid, sumBytes } from '../bytes/checksum.ts';
import type { Memory } from '../bytes/memory.ts';

export const udpBytes = 8;

/** A UDP header (RFC 768), parsed into one object that is used again. */
export class UdpHeader {
  sourcePort = 0;
  destinationPort = 0;
  payload = 0;
  end = 0;

  /** `pseudoSum`: folded sum of addresses and protocol. A checksum of 0 means none. */
  parse(memory: Memory, start: number, end: number, pseudoSum: number, checks: boolean): boolean {
    const { view } = memory;
    if (end - start < udpBytes) return false;
    const length = view.getUint16(start + 4);
    if (length < udpBytes || start + length > end) return false;
    if (
      checks &&
      view.getUint16(start + 6) !== 0 &&
      !isSumValid(pseudoSum + length + sumBytes(memory, start, start + length))
    )
      return false;
    this.sourcePort = view.getUint16(start);
    this.destinationPort = view.getUint16(start + 2);
    this.payload = start + udpBytes;
    this.end = start + length;
    return true;
  }
}

/** Writes the header of a datagram [at, end) whose payload stands behind it. `ports`: source × 65536 + destination. */
export const writeUdp = (memory: Memory, at: number, end: number, ports: number, pseudoSum: number): void => {
  const { view } = memory;
  view.setInt32(at, ports);
  view.setInt32(at + 4, (end - at) << 16);
  const checksum = checksumOf(pseudoSum + (end - at) + sumBytes(memory, at, end));
  view.setUint16(at + 6, checksum === 0 ? 0xffff : checksum);
};

/** The same without a checksum, as tunnels over IPv4 do. */
export const writeUdpUnchecked = (memory: Memory, at: number, end: number, ports: number): void => {
  memory.view.setInt32(at, ports);
  memory.view.setInt32(at + 4, (end - at) << 16);
};
