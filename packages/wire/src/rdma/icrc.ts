import { bthBytes } from './packet.ts';

/** CRC-32 of Ethernet, continued from an earlier value. */
export type Crc32 = (bytes: Uint8Array, before: number) => number;

const udpBytes = 8;
const dummyBytes = 8;
const ipBytes = { 4: 20, 6: 40 } as const;
const longest = dummyBytes + ipBytes[6] + udpBytes + bthBytes;
const ones = 0xff;

/**
 * Computes the invariant CRC of packets (InfiniBand annex A17): over the IP packet without its last 4 bytes, with
 * everything that routers change set to ones.
 */
export const createIcrc = (crc32: Crc32) => {
  const head = new Uint8Array(longest).fill(ones, 0, dummyBytes);
  /** The IP packet begins at `start`; the CRC covers it up to `end`, which is where it is written. */
  return (bytes: Uint8Array, start: number, end: number): number => {
    const isV6 = (bytes[start] as number) >>> 4 === 6;
    const udp = dummyBytes + (isV6 ? ipBytes[6] : ipBytes[4]);
    const length = udp + udpBytes + bthBytes;
    const headEnd = start + length - dummyBytes;
    for (let i = dummyBytes; i < length; i++) head[i] = bytes[start + i - dummyBytes] as number;
    if (isV6) {
      head[dummyBytes] = 0x6f;
      head.fill(ones, dummyBytes + 1, dummyBytes + 4);
      head[dummyBytes + 7] = ones;
    } else {
      head[dummyBytes + 1] = ones;
      head[dummyBytes + 8] = ones;
      head.fill(ones, dummyBytes + 10, dummyBytes + 12);
    }
    head.fill(ones, udp + 6, udp + 8);
    head[udp + udpBytes + 4] = ones;
    const crc = crc32(head.subarray(0, length), 0);
    return crc32(bytes.subarray(headEnd, end), crc);
  };
};
