import type { Sources } from '@rushhour/protocol';
import type { Host } from '../../engine.ts';
import type { HostNetwork } from '../host-network.ts';
import { type Chooser, chooserOf } from '../load/rotation.ts';
import type { Route } from '../transport/transport.ts';
import { claimAddresses } from './claim-addresses.ts';

/** Where a session of a client comes from. */
export type LocalEndpoint = Readonly<Pick<Route, 'localAddress' | 'localPort' | 'via'>>;

/** Local endpoints for the sessions of a client. */
export interface SourcePool {
  /** Empty if the kernel may choose. */
  readonly next: Chooser<LocalEndpoint>;
  /** The address of this number, starting over behind the last. */
  at(index: number): LocalEndpoint;
  readonly count: number;
  close(): Promise<void>;
}

export interface SourceDeps {
  readonly host: Host;
  /** Emulated hosts: their addresses are used, and none is claimed on the machine. */
  readonly hostNetwork?: HostNetwork | undefined;
  readonly note: (remark: string) => void;
  /** False when the engine itself notes how many addresses it uses. */
  readonly reportsUse?: boolean;
  /** With several cores, each takes every n-th address and port; emulated hosts are divided already. */
  readonly core: { readonly index: number; readonly count: number };
}

/** Claims the requested addresses where permitted, and notes where not. */
const claimSources = async (text: string, deps: SourceDeps, undo: (() => Promise<void>)[]): Promise<string[]> => {
  const claim = await claimAddresses(text, deps.host);
  if (claim.isComplete) undo.push(claim.release);
  else deps.note(`not permitted to use ${text} as source addresses; the machine's own are used instead`);
  return claim.addresses;
};

const portsOf = (range: string | undefined, core: SourceDeps['core']): (() => { localPort: number }) | undefined => {
  if (range === undefined) return undefined;
  const [first = 0, last = 0] = range.split('-').map(Number);
  if (first < 1 || last > 65_535 || last < first) throw new RangeError(`${range} is not a range of ports`);
  let next = first + core.index;
  return () => {
    const localPort = next;
    next += core.count;
    if (next > last) next = first + core.index;
    return { localPort };
  };
};

/** Notes when fewer addresses are used than there are: a socket that stays open keeps its address. */
export const noteUnusedSources = (
  note: (remark: string) => void,
  { available, used, per }: { available: number; used: number; per: string },
): void => {
  if (available > used) note(`${used} of ${available} source addresses are used, one for each ${per}`);
};

/** Which of the available source addresses were used. */
export class SourceUse {
  readonly #available: number;
  readonly #used = new Set<string>();

  constructor(available: number) {
    this.#available = available;
  }

  take(address: string): void {
    if (this.#used.size < this.#available) this.#used.add(address);
  }

  /** Notes when addresses were left over. */
  report(note: (remark: string) => void, where = ''): void {
    const count = this.#used.size;
    if (count > 0 && count < this.#available) note(`${count} of ${this.#available} source addresses were used${where}`);
  }
}

const anyAddress = {};

export const prepareSources = async (sources: Sources, deps: SourceDeps): Promise<SourcePool> => {
  const undo: (() => Promise<void>)[] = [];
  const addresses: string[] = [...(deps.hostNetwork?.addresses ?? [])];
  const requests = deps.hostNetwork === undefined ? [...sources.addresses, ...sources.networks, ...sources.ranges] : [];
  for (const request of requests) {
    for (const address of await claimSources(request, deps, undo)) addresses.push(address);
  }
  const core = deps.hostNetwork === undefined ? deps.core : { index: 0, count: 1 };
  const mine = addresses.filter((_, index) => addresses.length < core.count || index % core.count === core.index);
  const via = deps.hostNetwork && { via: deps.hostNetwork };
  const nextPort = portsOf(sources.portRange, core);
  const choose =
    mine.length === 0
      ? undefined
      : chooserOf(
          mine.map((localAddress) => ({ source: { localAddress, ...via }, weight: 1 })),
          sources.rotation,
        );
  const use = new SourceUse(mine.length);
  const take = (source: LocalEndpoint & { readonly localAddress: string }): LocalEndpoint => {
    use.take(source.localAddress);
    return source;
  };
  const nextAddress: SourcePool['next'] = choose === undefined ? () => anyAddress : (slot) => take(choose(slot).source);
  return {
    count: mine.length,
    at: (index) =>
      mine.length === 0 ? anyAddress : take({ localAddress: mine[index % mine.length] as string, ...via }),
    next: nextPort === undefined ? nextAddress : (slot) => ({ ...nextAddress(slot), ...nextPort() }),
    async close() {
      const where = deps.core.count > 1 ? ` by core ${deps.core.index + 1}` : '';
      if (deps.reportsUse !== false) use.report(deps.note, where);
      await Promise.all(undo.map((step) => step()));
    },
  };
};
