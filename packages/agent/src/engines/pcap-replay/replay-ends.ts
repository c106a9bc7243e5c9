import type { NewEnds } from '@rushhour/pcap';
import type { ReplayPart } from '@rushhour/protocol';
import { AddressPool } from './address-pool.ts';

const usualPorts = [1024, 65_535] as const;

type Wish = Pick<ReplayPart, 'sources' | 'targets' | 'rewrite'>;

/** Addresses and ports that take the place of the recorded ones. Both sides reckon the same ones from the same order. */
export class ReplayEnds implements NewEnds {
  readonly clients: AddressPool;
  readonly #servers: AddressPool;
  readonly #clientPorts: readonly [number, number];
  readonly #serverPorts: readonly number[];
  readonly clientPort?: (flow: number) => number;
  readonly serverPort?: (index: number) => number;

  /** `addressOf` gives the addresses of names. */
  constructor({ sources, targets, rewrite }: Wish, addressOf: (host: string) => string) {
    this.clients = new AddressPool(sources);
    const hosts = new Set(targets.map(({ host }) => addressOf(host)));
    this.#servers = new AddressPool({ addresses: [...hosts], networks: [], ranges: [] });
    const [first = 0, last = 0] = sources.portRange?.split('-').map(Number) ?? usualPorts;
    if (first < 1 || last > 65_535 || last < first) throw new RangeError(`${sources.portRange} is no range of ports`);
    this.#clientPorts = [first, last];
    this.#serverPorts = [...new Set(targets.map(({ port }) => port))];
    if (!rewrite.hasNewPorts) return;
    this.clientPort = (flow) => this.#clientPorts[0] + (flow % (this.#clientPorts[1] - this.#clientPorts[0] + 1));
    this.serverPort = (index) => this.#serverPorts[index % this.#serverPorts.length] as number;
  }

  client(index: number, size: 4 | 16): Buffer | undefined {
    return this.clients.find(index, size);
  }

  server(index: number, size: 4 | 16): Buffer | undefined {
    return this.#servers.find(index, size);
  }
}
