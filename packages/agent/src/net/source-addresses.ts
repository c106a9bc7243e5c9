import { isIP } from 'node:net';
import type { Sources } from '@rushhour/protocol';
import type { Host } from '../engine.ts';
import { addressesOf, hostsOf, networksOf, parseNetwork, parseRange } from './address-range.ts';
import { addLocalRoute } from './local-routes.ts';
import { type Chooser, chooserOf } from './rotation.ts';

const maxAddresses = 1_000_000;

/** Where the sessions of a client come from. */
export interface SourcePool {
  /** Nothing when the machine may choose. */
  readonly next: Chooser<{ readonly localAddress?: string; readonly localPort?: number }>;
  readonly count: number;
  close(): Promise<void>;
}

export interface SourceDeps {
  readonly host: Host;
  readonly note: (remark: string) => void;
  /** One of several cores takes every n-th address and port. */
  readonly core: { readonly index: number; readonly count: number };
}

const isOwn = (address: string, host: Host): boolean => address.startsWith('127.') || host.addresses.includes(address);

/** Addresses that are wished for, and the networks that make them this machine's own. */
interface Wish {
  readonly text: string;
  readonly version: 4 | 6;
  readonly addresses: readonly string[];
  readonly networks: readonly string[];
}

const networkWish = (text: string): Wish => {
  if (isIP(text.split('/')[0] as string) === 0) throw new RangeError(`${text} is no source address or network`);
  const network = parseNetwork(text);
  return { text, version: network.version, addresses: hostsOf(network, maxAddresses), networks: [text] };
};

const rangeWish = (text: string): Wish => {
  const range = parseRange(text);
  return { text, version: range.version, addresses: addressesOf(range, maxAddresses), networks: networksOf(range) };
};

/** Makes the wished-for addresses usable where this machine may, and says so where it may not. */
const claimAddresses = async (wish: Wish, deps: SourceDeps, undo: (() => Promise<void>)[]): Promise<string[]> => {
  const own = wish.addresses.filter((address) => isOwn(address, deps.host));
  if (own.length === wish.addresses.length) return own;
  if (deps.host.isNetAdmin && deps.host.platform === 'linux') {
    for (const network of wish.networks) undo.push(await addLocalRoute(network, wish.version));
    return [...wish.addresses];
  }
  deps.note(`no right to use ${wish.text} as source addresses; the machine's own are used instead`);
  return own;
};

const portsOf = (range: string | undefined, core: SourceDeps['core']): (() => { localPort?: number }) => {
  if (range === undefined) return () => ({});
  const [first = 0, last = 0] = range.split('-').map(Number);
  if (first < 1 || last > 65_535 || last < first) throw new RangeError(`${range} is no range of ports`);
  let next = first + core.index;
  return () => {
    const localPort = next;
    next += core.count;
    if (next > last) next = first + core.index;
    return { localPort };
  };
};

const localAddressOf = (chosen: { localAddress: string } | undefined) =>
  chosen === undefined ? {} : { localAddress: chosen.localAddress };

export const prepareSources = async (sources: Sources, deps: SourceDeps): Promise<SourcePool> => {
  const undo: (() => Promise<void>)[] = [];
  const addresses: string[] = [];
  const wishes = [...sources.addresses, ...sources.networks].map(networkWish);
  for (const wish of [...wishes, ...sources.ranges.map(rangeWish)]) {
    for (const address of await claimAddresses(wish, deps, undo)) addresses.push(address);
  }
  const mine = addresses.filter(
    (_, index) => addresses.length < deps.core.count || index % deps.core.count === deps.core.index,
  );
  const nextPort = portsOf(sources.portRange, deps.core);
  const choose =
    mine.length === 0
      ? undefined
      : chooserOf(
          mine.map((localAddress) => ({ localAddress, weight: 1 })),
          sources.rotation,
        );
  return {
    count: mine.length,
    next: (slot) => ({ ...localAddressOf(choose?.(slot)), ...nextPort() }),
    async close() {
      await Promise.all(undo.map((step) => step()));
    },
  };
};
