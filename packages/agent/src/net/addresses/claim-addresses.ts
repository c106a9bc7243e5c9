import { isIP } from 'node:net';
import type { Host } from '../../engine.ts';
import { addressesOf, hostsOf, networksOf, parseNetwork, parseRange } from './address-range.ts';
import { addLocalRoute } from './local-routes.ts';

const maxAddresses = 1_000_000;

/** Addresses that are wished for, and the networks that make them this machine's own. */
interface Wish {
  readonly version: 4 | 6;
  readonly addresses: readonly string[];
  readonly networks: readonly string[];
}

/** An address, a network whose hosts are meant, or `first-last`. */
const wishOf = (text: string): Wish => {
  if (text.includes('-')) {
    const range = parseRange(text);
    return { version: range.version, addresses: addressesOf(range, maxAddresses), networks: networksOf(range) };
  }
  if (isIP(text.split('/')[0] as string) === 0) throw new RangeError(`${text} is no source address or network`);
  const network = parseNetwork(text);
  return { version: network.version, addresses: hostsOf(network, maxAddresses), networks: [text] };
};

const isOwn = (address: string, host: Host): boolean => address.startsWith('127.') || host.addresses.includes(address);

export interface Claim {
  /** All that were wished for, or those that are this machine's own anyway. */
  readonly addresses: string[];
  readonly isComplete: boolean;
  release(): Promise<void>;
}

/** Makes addresses this machine's own, where it may. */
export const claimAddresses = async (text: string, host: Host): Promise<Claim> => {
  const wish = wishOf(text);
  const own = wish.addresses.filter((address) => isOwn(address, host));
  const undo: (() => Promise<void>)[] = [];
  const release = async () => void (await Promise.all(undo.map((step) => step())));
  if (own.length === wish.addresses.length) return { addresses: own, isComplete: true, release };
  if (!host.isNetAdmin || host.platform !== 'linux') return { addresses: own, isComplete: false, release };
  for (const network of wish.networks) undo.push(await addLocalRoute(network, wish.version));
  return { addresses: [...wish.addresses], isComplete: true, release };
};
