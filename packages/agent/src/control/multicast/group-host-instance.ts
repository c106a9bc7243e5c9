import type { PlaneCommand } from '@rushhour/protocol';
import {
  createMemory,
  type GroupHosts,
  type GroupHostsOptions,
  type HostPort,
  IgmpHosts,
  MldHosts,
} from '@rushhour/wire';
import type { IgmpProfile } from '../../access/options/access-profiles.ts';
import { ipv4Text, ipv4Word } from '../routers/ipv4-word.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';
import { sendToGroup } from './group-port.ts';

const second = 1000;
const packetBytes = 2048;
/** The only host of an instance, and the line on which its packets arrive. */
const session = 0;

/** `addressOf`: an address of a profile as the protocol has it. */
const optionsOf = <Address>(
  { host, join, zapping }: IgmpProfile,
  ordinal: number,
  addressOf: (text: string) => Address,
): GroupHostsOptions<Address> => ({
  version: host.version,
  firstGroup: addressOf(host.groupStart),
  groupCount: host.groupCount,
  groupStep: host.groupStep,
  sources: host.sources.map(addressOf),
  isInclude: host.filter === 'include',
  robustness: host.robustness,
  reportDelayMs: host.reportDelayMs,
  join: {
    isAutomatic: join.autostart,
    delayMs: join.delaySec * second,
    perSec: join.joinsPerSec,
    groupsPerHost: join.groupsPerHost,
    firstHost: ordinal,
  },
  zapping: {
    intervalMs: zapping.intervalSec * second,
    count: zapping.count,
    pauseMs: zapping.pauseSec * second,
    waitMs: zapping.waitMs,
    overlapMs: zapping.overlapMs,
  },
});

interface GroupHostParts<Address> {
  readonly protocol: 'igmp' | 'mld';
  readonly family: string;
  readonly address: Address;
  parse(text: string): Address;
  format(address: Address): string;
  create(port: HostPort<Address>, options: GroupHostsOptions<Address>): GroupHosts<Address>;
}

/** A host that joins multicast groups. */
export class GroupHostInstance<Address> implements ProtocolInstance {
  readonly protocol: string;
  readonly router: Router;
  readonly #hosts: GroupHosts<Address>;
  readonly #parts: GroupHostParts<Address>;
  #isUp = false;
  #startedAt = 0;
  #received = 0;

  constructor(
    { profile, router, host, ordinal }: InstanceOptions<IgmpProfile>,
    context: PlaneContext,
    parts: GroupHostParts<Address>,
  ) {
    const memory = createMemory(packetBytes);
    this.protocol = parts.protocol;
    this.router = router;
    this.#parts = parts;
    this.#hosts = parts.create(
      {
        ...{ hosts: 1, random: Math.random, memory: () => memory, lineOf: () => session },
        addressOf: () => parts.address,
        begin: () => 0,
        send: (_, start, end, group) =>
          sendToGroup(context, { host, group: parts.format(group), packetBytes: end - start }, (to, at) =>
            to.bytes.set(memory.bytes.subarray(start, end), at),
          ),
        onJoined: (_, delayMs) => {
          this.#received++;
          context.recordJoin(Math.round(delayMs * second));
        },
        onLeft: (_, delayMs) => context.recordLeave(Math.round(delayMs * second)),
      },
      optionsOf(profile, ordinal, parts.parse),
    );
  }

  get counters(): InstanceCounters {
    const { sent, received, joins } = this.#hosts.counters;
    return { tx: sent, rx: received, flaps: 0, prefixesSent: joins, prefixesReceived: 0 };
  }

  start(now: number): void {
    this.#hosts.advance(now);
    this.#isUp = true;
    this.#startedAt = now;
    this.#hosts.start(session);
  }

  advance(now: number): void {
    this.#hosts.advance(now);
  }

  /** Leaves all groups. */
  stop(): void {
    this.#isUp = false;
    this.#hosts.stop(session);
  }

  /** A message of the protocol. */
  receive(bytes: Uint8Array): void {
    const memory = createMemory(bytes.length);
    memory.bytes.set(bytes);
    this.#hosts.receive([session], memory, 0, bytes.length);
  }

  /** Any other packet to a group. */
  receiveData(source: string, destination: string): void {
    const { parse } = this.#parts;
    this.#hosts.receiveData(session, { source: parse(source), destination: parse(destination) });
  }

  command({ action, values }: PlaneCommand, now: number): string | undefined {
    if (action === 'join' || action === 'leave') return this.#change(action, values);
    if (action === 'start' || action === 'linkUp') this.start(now);
    else if (action === 'stop' || action === 'linkDown') this.stop();
    else if (action === 'restart' || action === 'disconnect') {
      this.stop();
      this.start(now);
    } else return `hosts of ${this.protocol} cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const { joins, invalid } = this.#hosts.counters;
    const groups = this.#hosts.groupsOf(session);
    const isUp = this.#isUp && groups.length > 0;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: 'groups',
        state: !this.#isUp ? 'down' : `member of ${groups.length}`,
        isUp,
        uptimeMs: isUp ? Math.round(now - this.#startedAt) : 0,
        flaps: 0,
        routesSent: joins,
        routesReceived: this.#received,
        databaseSize: groups.length,
        lastError: invalid > 0 ? 'a query is broken' : '',
      },
    ];
  }

  /** The groups it has joined. */
  routes(limit: number): readonly RouteRow[] {
    const { family, format } = this.#parts;
    const groups = this.#hosts.groupsOf(session).slice(0, Math.max(0, limit));
    return groups.map((group) => ({
      router: this.router.address,
      neighbour: 'groups',
      protocol: this.protocol,
      family,
      route: format(group),
      nextHop: '',
      detail: 'joined',
    }));
  }

  #change(action: 'join' | 'leave', values: readonly string[] | undefined): string | undefined {
    const { parse } = this.#parts;
    const isV6 = this.protocol === 'mld';
    const groups = values?.map((text) => (text.includes(':') === isV6 ? this.#hosts.groupOf(parse(text)) : -1));
    const unknown = values?.find((_, i) => groups?.[i] === -1);
    if (unknown !== undefined) return `${unknown} is not a group of the profile`;
    this.#hosts[action](session, groups);
    return undefined;
  }
}

export const createIgmpHost = (options: InstanceOptions<IgmpProfile>, context: PlaneContext) => {
  const { address } = options.router;
  if (address.includes(':')) throw new RangeError(`IGMP of ${address} needs an IPv4 address`);
  return new GroupHostInstance<number>(options, context, {
    protocol: 'igmp',
    family: 'ipv4Multicast',
    address: ipv4Word(address) | 0,
    parse: (text) => ipv4Word(text) | 0,
    format: ipv4Text,
    create: (port, hosts) => new IgmpHosts(port, hosts),
  });
};

/** Hosts of MLD report from the link-local address of their router. */
export const createMldHost = (options: InstanceOptions<IgmpProfile>, context: PlaneContext) => {
  const { address, linkLocal = address } = options.router;
  return new GroupHostInstance<string>(options, context, {
    protocol: 'mld',
    family: 'ipv6Multicast',
    address: linkLocal,
    parse: (text) => text,
    format: (text) => text,
    create: (port, hosts) => new MldHosts(port, hosts),
  });
};
