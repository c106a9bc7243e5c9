import type { Sources } from '@rushhour/protocol';
import type { Host } from '../../engine.ts';
import { type Chooser, chooserOf } from '../load/rotation.ts';
import { claimAddresses } from './claim-addresses.ts';

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

/** Takes the wished-for addresses where this machine may, and says so where it may not. */
const takeAddresses = async (text: string, deps: SourceDeps, undo: (() => Promise<void>)[]): Promise<string[]> => {
  const claim = await claimAddresses(text, deps.host);
  if (claim.isComplete) undo.push(claim.release);
  else deps.note(`no right to use ${text} as source addresses; the machine's own are used instead`);
  return claim.addresses;
};

const portsOf = (range: string | undefined, core: SourceDeps['core']): (() => { localPort: number }) | undefined => {
  if (range === undefined) return undefined;
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

const anywhere = {};

export const prepareSources = async (sources: Sources, deps: SourceDeps): Promise<SourcePool> => {
  const undo: (() => Promise<void>)[] = [];
  const addresses: string[] = [];
  for (const wish of [...sources.addresses, ...sources.networks, ...sources.ranges]) {
    for (const address of await takeAddresses(wish, deps, undo)) addresses.push(address);
  }
  const mine = addresses.filter(
    (_, index) => addresses.length < deps.core.count || index % deps.core.count === deps.core.index,
  );
  const nextPort = portsOf(sources.portRange, deps.core);
  const choose =
    mine.length === 0
      ? undefined
      : chooserOf(
          mine.map((localAddress) => ({ source: { localAddress }, weight: 1 })),
          sources.rotation,
        );
  const nextAddress: SourcePool['next'] = choose === undefined ? () => anywhere : (slot) => choose(slot).source;
  return {
    count: mine.length,
    next: nextPort === undefined ? nextAddress : (slot) => ({ ...nextAddress(slot), ...nextPort() }),
    async close() {
      await Promise.all(undo.map((step) => step()));
    },
  };
};
