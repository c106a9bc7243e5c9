import type { NewEnds } from '@rushhour/pcap';
import type { ReplayPart } from '@rushhour/protocol';
import { numberToAddress } from '../../net/addresses/address-range.ts';
import { AddressPool } from './address-pool.ts';

const defaultPorts = [1024, 65_535] as const;

type Options = Pick<ReplayPart, 'sources' | 'targets' | 'rewrite'>;

/** Addresses and ports that replace the recorded ones. Both sides compute the same ones from the same job. */
export class ReplayEnds implements NewEnds {
  readonly clients: AddressPool;
  readonly #servers: AddressPool;
  readonly #hosts: string[];
  readonly #clientPorts: readonly [number, number];
  readonly #serverPorts: readonly number[];
  readonly clientPort?: (flow: number) => number;
  readonly serverPort?: (index: number) => number;

  /** `addressOf` resolves names. */
  constructor({ sources, targets, rewrite }: Options, addressOf: (host: string) => string) {
    this.clients = new AddressPool(sources);
    const hosts = new Set(targets.map(({ host }) => addressOf(host)));
    this.#hosts = [...hosts];
    this.#servers = new AddressPool({ addresses: this.#hosts, networks: [], ranges: [] });
    const [first = 0, last = 0] = sources.portRange?.split('-').map(Number) ?? defaultPorts;
    if (first < 1 || last > 65_535 || last < first)
      throw new RangeError(`${sources.portRange} is not a valid port range`);
    this.#clientPorts = [first, last];
    this.#serverPorts = [...new Set(targets.map(({ port }) => port))];
    if (!rewrite.hasNewPorts) return;
    this.clientPort = (flow) => this.#clientPorts[0] + (flow % (this.#clientPorts[1] - this.#clientPorts[0] + 1));
    this.serverPort = (index) => this.#serverPorts[index % this.#serverPorts.length] as number;
  }

  /** Number of client addresses of the IP version that has more. */
  get clientCount(): number {
    return Math.max(Number(this.clients.countOf(4)), Number(this.clients.countOf(16)));
  }

  client(index: number, size: 4 | 16): Buffer | undefined {
    return this.clients.find(index, size);
  }

  server(index: number, size: 4 | 16): Buffer | undefined {
    return this.#servers.find(index, size);
  }

  /** The replacement address of a recorded server, as text. */
  serverHost(index: number, size: 4 | 16): string | undefined {
    const hosts = this.#hosts.filter((host) => host.includes(':') === (size === 16));
    return hosts[index % hosts.length];
  }

  /** A client address of the same IP version as `other`; undefined when there is none. */
  firstClient(other: string): string | undefined {
    const version = other.includes(':') ? 6 : 4;
    const found = this.clients.find(0, version === 6 ? 16 : 4);
    return found && numberToAddress(BigInt(`0x${found.toString('hex')}`), version);
  }
}
