import { BlockList, isIP } from 'node:net';
import type { Sources } from '@rushhour/protocol';
import type { Host } from '../engine.ts';
import { hostsOf, type Network, parseNetwork } from './address-range.ts';
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

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);

const isOwn = (network: Network, address: string, host: Host): boolean =>
  (network.version === 4 && network.prefix >= 8 && loopback.check(address)) || host.addresses.includes(address);

/** Makes the wished-for addresses usable where this machine may, and says so where it may not. */
const claimAddresses = async (cidr: string, deps: SourceDeps, undo: (() => Promise<void>)[]): Promise<string[]> => {
  const network = parseNetwork(cidr);
  const hosts = hostsOf(network, maxAddresses);
  if (hosts.every((address) => isOwn(network, address, deps.host))) return hosts;
  if (deps.host.isNetAdmin && deps.host.platform === 'linux') {
    undo.push(await addLocalRoute(cidr, network.version));
    return hosts;
  }
  const own = hosts.filter((address) => isOwn(network, address, deps.host));
  deps.note(`no right to use ${cidr} as source addresses; the machine's own are used instead`);
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
  for (const wish of [...sources.addresses, ...sources.networks]) {
    if (isIP(wish.split('/')[0] as string) === 0) throw new RangeError(`${wish} is no source address or network`);
    addresses.push(...(await claimAddresses(wish, deps, undo)));
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
