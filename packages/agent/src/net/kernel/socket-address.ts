import { addressToNumber, numberToAddress } from '../addresses/address-range.ts';

export const family = { unspecified: 0, inet: 2, inet6: 10 } as const;

/** Size of the larger `sockaddr`. */
export const socketAddressBytes = 28;

/** The family of an address; whether it is valid is checked when it is written. */
export const familyOf = (address: string): number => (address.includes(':') ? family.inet6 : family.inet);

const dot = 46;

/** Hand-written because it runs for each connection. False if it is not an IPv4 address. */
const writeIpv4 = (bytes: Buffer, start: number, address: string): boolean => {
  let at = start;
  let part = -1;
  for (let i = 0; i <= address.length; i++) {
    const character = i === address.length ? dot : address.charCodeAt(i);
    if (character === dot) {
      if (part < 0 || part > 255 || at === start + 4) return false;
      bytes[at++] = part;
      part = -1;
    } else if (character < 48 || character > 57) return false;
    else part = Math.max(0, part) * 10 + character - 48;
  }
  return at === start + 4;
};

/** Writes `sockaddr_in` or `sockaddr_in6` and returns its length. */
export const writeSocketAddress = (bytes: Buffer, at: number, { address, port }: { address: string; port: number }) => {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new RangeError(`invalid port ${port}`);
  bytes[at + 1] = 0;
  bytes[at + 2] = port >> 8;
  bytes[at + 3] = port & 255;
  if (writeIpv4(bytes, at + 4, address)) {
    bytes[at] = family.inet;
    for (let i = at + 8; i < at + 16; i++) bytes[i] = 0;
    return 16;
  }
  const value = addressToNumber(address);
  bytes[at] = family.inet6;
  bytes.fill(0, at + 4, at + socketAddressBytes);
  bytes.writeBigUInt64BE(value >> 64n, at + 8);
  bytes.writeBigUInt64BE(value & 0xffff_ffff_ffff_ffffn, at + 16);
  return socketAddressBytes;
};

/** IPv4-mapped addresses are formatted as Node does: `::ffff:1.2.3.4`. */
export const readSocketAddress = (bytes: Buffer, at: number): { address: string; port: number } => {
  const port = bytes.readUInt16BE(at + 2);
  if (bytes.readUInt16LE(at) === family.inet) {
    return { port, address: `${bytes[at + 4]}.${bytes[at + 5]}.${bytes[at + 6]}.${bytes[at + 7]}` };
  }
  const [high, low] = [bytes.readBigUInt64BE(at + 8), bytes.readBigUInt64BE(at + 16)];
  if (high === 0n && low >> 32n === 0xffffn)
    return { port, address: `::ffff:${numberToAddress(low & 0xffff_ffffn, 4)}` };
  return { port, address: numberToAddress((high << 64n) | low, 6) };
};
