import { isIP } from 'node:net';
import type { Host } from '../../engine.ts';
import { addressesOf, hostsOf, networksOf, parseNetwork, parseRange } from './address-range.ts';
import { addLocalRoute } from './local-routes.ts';

const maxAddresses = 1_000_000;

/** Requested addresses, and the networks to route to this machine for them. */
interface RequestedAddresses {
  readonly version: 4 | 6;
  readonly addresses: readonly string[];
  readonly networks: readonly string[];
}

/** Parses an address, a network (its host addresses) or `first-last`. */
const parseRequest = (text: string): RequestedAddresses => {
  if (text.includes('-')) {
    const range = parseRange(text);
    return { version: range.version, addresses: addressesOf(range, maxAddresses), networks: networksOf(range) };
  }
  if (isIP(text.split('/')[0] as string) === 0) throw new RangeError(`${text} is not a source address or network`);
  const network = parseNetwork(text);
  return { version: network.version, addresses: hostsOf(network, maxAddresses), networks: [text] };
};

const isOwn = (address: string, host: Host): boolean => address.startsWith('127.') || host.addresses.includes(address);

export interface AddressClaim {
  /** All requested addresses, or only those the machine already has. */
  readonly addresses: string[];
  readonly isComplete: boolean;
  release(): Promise<void>;
}

/** Makes this machine answer for the addresses, where it is permitted to. */
export const claimAddresses = async (text: string, host: Host): Promise<AddressClaim> => {
  const requested = parseRequest(text);
  const own = requested.addresses.filter((address) => isOwn(address, host));
  const undo: (() => Promise<void>)[] = [];
  const release = async () => void (await Promise.all(undo.map((step) => step())));
  if (own.length === requested.addresses.length) return { addresses: own, isComplete: true, release };
  if (!host.isNetAdmin || host.platform !== 'linux') return { addresses: own, isComplete: false, release };
  for (const network of requested.networks) undo.push(await addLocalRoute(network, requested.version));
  return { addresses: [...requested.addresses], isComplete: true, release };
};
