import { formatAddress, parseAddress, writeMapped } from '@rushhour/wire';

/** An IPv4 address as a number. */
export const ipv4Word = (address: string): number => (parseAddress(address)[3] as number) >>> 0;

export const ipv4Text = (address: number): string => {
  const words = new Int32Array(4);
  writeMapped(words, 0, address | 0);
  return formatAddress(words);
};
