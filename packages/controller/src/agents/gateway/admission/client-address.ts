import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Reads the address that a request comes from: behind proxies that are trusted, the one they saw. */
export const createAddressReader = (trustedProxies: readonly string[]) => {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [address = '', bits] = range.split('/');
    if (bits === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(bits), familyOf(address));
  }
  const isTrusted = (address: string) => isIP(address) > 0 && trusted.check(address, familyOf(address));
  return ({ socket, headers }: IncomingMessage): string => {
    // Each proxy has added the address it saw at the end.
    const seen = String(headers['x-forwarded-for'] ?? '').split(',');
    let address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    for (let next = seen.pop()?.trim(); isTrusted(address) && next; next = seen.pop()?.trim()) address = next;
    return address;
  };
};
