import {
  copyOf,
  formatAddress,
  igmpProtocol,
  ipProtocol,
  isFromLink,
  type Memory,
  type Packet,
  parseAddress,
} from '@rushhour/wire';
import type { IgmpProfile } from '../../access/options/access-profiles.ts';
import type { QuerierProfile } from '../routers/profiles.ts';
import type { InstanceOptions, PlaneContext, ProtocolInstance, Router } from '../routers/router.ts';
import { createIgmpHost, createMldHost, type GroupHostInstance } from './group-host-instance.ts';
import { createIgmpQuerier, createMldQuerier, type QuerierInstance } from './querier-instance.ts';

type Options = InstanceOptions<unknown>;

/** The hosts of multicast groups on one interface, and those that ask for them. */
export class GroupSite {
  readonly #context: PlaneContext;
  readonly #igmpQueriers: QuerierInstance<number>[] = [];
  readonly #mldQueriers: QuerierInstance<string>[] = [];
  readonly #igmpHosts: GroupHostInstance<number>[] = [];
  readonly #mldHosts: GroupHostInstance<string>[] = [];

  constructor(context: PlaneContext) {
    this.#context = context;
  }

  get isEmpty(): boolean {
    const all = [this.#igmpQueriers, this.#mldQueriers, this.#igmpHosts, this.#mldHosts];
    return all.every(({ length }) => length === 0);
  }

  /** A querier or host; undefined: the protocol is another one. */
  add(protocol: string, options: Options): ProtocolInstance | undefined {
    const querier = options as InstanceOptions<QuerierProfile>;
    const host = options as InstanceOptions<IgmpProfile>;
    if (protocol === 'igmp-querier') return added(this.#igmpQueriers, createIgmpQuerier(querier, this.#context));
    if (protocol === 'mld-querier')
      return added(this.#mldQueriers, createMldQuerier(this.#onLink(querier), this.#context));
    if (protocol === 'igmp') return added(this.#igmpHosts, createIgmpHost(host, this.#context));
    if (protocol === 'mld') return added(this.#mldHosts, createMldHost(this.#onLink(host), this.#context));
    return undefined;
  }

  /** A packet to a group. */
  receive(packet: Packet, protocol: number, memory: Memory, start: number, end: number): void {
    if (protocol === igmpProtocol) this.#receiveIgmp(packet, copyOf(memory.bytes, start, end));
    else if (protocol === ipProtocol.icmp6) {
      if (isFromLink(packet, memory, start, end)) this.#receiveMld(packet, copyOf(memory.bytes, start, end));
    } else this.#receiveData(packet);
  }

  #receiveIgmp({ addresses }: Packet, bytes: Uint8Array): void {
    const source = (addresses[7] as number) >>> 0;
    for (const querier of this.#igmpQueriers) querier.receive(bytes, source);
    for (const host of this.#igmpHosts) host.receive(bytes);
  }

  #receiveMld({ addresses }: Packet, bytes: Uint8Array): void {
    const source = formatAddress(addresses, 4);
    for (const querier of this.#mldQueriers) querier.receive(bytes, source);
    for (const host of this.#mldHosts) host.receive(bytes);
  }

  #receiveData({ addresses, isV6 }: Packet): void {
    const hosts = isV6 ? this.#mldHosts : this.#igmpHosts;
    if (hosts.length === 0) return;
    const [destination, source] = [formatAddress(addresses, 0), formatAddress(addresses, 4)];
    for (const host of hosts) host.receiveData(source, destination);
  }

  /** MLD is spoken between link-local addresses. */
  #onLink<Profile>(options: InstanceOptions<Profile>): InstanceOptions<Profile> {
    const { linkLocal = '' }: Router = options.router;
    return { ...options, host: this.#context.layers.hostOf(parseAddress(linkLocal)) };
  }
}

const added = <Instance>(all: Instance[], one: Instance): Instance => {
  all.push(one);
  return one;
};
