import type { Mac, MacPrefix } from './mac.ts';

/** A numbered space of MAC addresses. */
export interface MacSpace {
  readonly size: bigint;
  at(position: number): Mac;
  find(mac: Mac): number | undefined;
}

/** Every locally administered unicast address: the two low bits of the first octet are fixed. */
export const localSpace: MacSpace = {
  size: 2n ** 46n,
  at: (position) => (Math.floor(position / 2 ** 40) * 4 + 2) * 2 ** 40 + (position % 2 ** 40),
  find: (mac) => {
    const octet = Math.floor(mac / 2 ** 40);
    return (octet & 3) === 2 ? (octet >> 2) * 2 ** 40 + (mac % 2 ** 40) : undefined;
  },
};

export function prefixSpace({ first, freeBits }: MacPrefix): MacSpace {
  return {
    size: 1n << BigInt(freeBits),
    at: (position) => first + position,
    find: (mac) => (mac >= first && mac < first + 2 ** freeBits ? mac - first : undefined),
  };
}
