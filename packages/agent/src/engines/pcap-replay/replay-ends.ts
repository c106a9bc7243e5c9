import type { NewEnds } from '@rushhour/pcap';
import type { ReplayPart } from '@rushhour/protocol';
import { numberToAddress } from '../../net/addresses/address-range.ts';
import { AddressPool } from './address-pool.ts';

const defaultPorts = [1024, 65_535] as const;

type Options = Pick<ReplayPart, 'sources' | 'targets' | 'rewrite'>;

/** Addresses and ports that take the place of the recorded ones. Both sides reckon the same ones from the same order. */
export class ReplayEnds implements NewEnds {
  readonly clients: AddressPool;
  readonly #servers: AddressPool;
  readonly #hosts: string[];
  readonly #clientPorts: readonly [number, number];
  readonly #serverPorts: readonly number[];
  readonly clientPort?: (flow: number) => number;
  readonly serverPort?: (index: number) => number;

  /** `addressOf` gives the addresses of names. */
  constructor({ sources, targets, rewrite }: Options, addressOf: (host: string) => string) {
    this.clients = new AddressPool(sources);
    const hosts = new Set(targets.map(({ host }) => addressOf(host)));
    this.#hosts = [...hosts];
    this.#servers = new AddressPool({ addresses: this.#hosts, networks: [], ranges: [] });
    const [first = 0, last = 0] = sources.portRange?.split('-').map(Number) ?? defaultPorts;
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

  /** The address a server of the capture has got, as text. */
  serverHost(index: number, size: 4 | 16): string | undefined {
    const hosts = this.#hosts.filter((host) => host.includes(':') === (size === 16));
    return hosts[index % hosts.length];
  }

  /** An address of the clients that is of the same version as another; undefined where none is named. */
  firstClient(other: string): string | undefined {
    const version = other.includes(':') ? 6 : 4;
    const found = this.clients.find(0, version === 6 ? 16 : 4);
    return found && numberToAddress(BigInt(`0x${found.toString('hex')}`), version);
  }
}
