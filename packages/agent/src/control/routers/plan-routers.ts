import { networkInterfaces } from 'node:os';
import type { ControlPlaneConfig, HostStack, StackNetwork } from '@rushhour/protocol';
import { formatAddress, parseAddress } from '@rushhour/wire';
import type { Router } from './router.ts';

/** A protocol of a router, its profile and the ordinal of the router among those that use it. */
export interface RouterProfile {
  readonly protocol: string;
  readonly config: unknown;
  readonly ordinal: number;
}

export interface PlannedRouter {
  readonly router: Router;
  readonly profiles: readonly RouterProfile[];
}

/** The routers on one interface and the hosts they live on. */
export interface RouterSite {
  readonly stack: HostStack;
  readonly routers: readonly PlannedRouter[];
}

interface Addressed {
  /** Versions of OSPF and RIP; protocols of IS-IS. */
  readonly instance?: { readonly version?: unknown; readonly protocols?: readonly string[] };
  /** The rendezvous point of PIM, which registers go to. */
  readonly rendezvous?: { readonly address?: string };
  /** The first group of PIM. */
  readonly joins?: { readonly groupStart?: string };
  readonly session?: {
    readonly localAddress?: string;
    readonly peerAddress?: string;
    /** LDP's names of the own address. */
    readonly transportAddress?: string;
    readonly lsrId?: string;
  };
}

/**
 * Router i of n runs profile j of m of a protocol where i mod m = j mod n: one profile is for all routers, as many
 * profiles as routers are one for each, and several profiles of a single router all run on it.
 */
const profilesFor = (index: number, routers: number, profiles: ControlPlaneConfig['profiles']): RouterProfile[] =>
  Object.entries(profiles).flatMap(([protocol, configs]) =>
    configs.flatMap((config, j) => {
      if (index % configs.length !== j % routers) return [];
      return { protocol, config, ordinal: Math.floor(index / configs.length) };
    }),
  );

const isV6 = (address: string): boolean => address.includes(':');

/** The address that many steps behind another one. */
export const addressAfter = (first: string, steps: number): string => {
  const words = parseAddress(first);
  words[3] = (words[3] as number) + steps;
  return formatAddress(words);
};

/** Addresses of the interface in the machine's own configuration. */
const ownAddresses = (name: string): { readonly address: string; readonly cidr: string }[] =>
  (networkInterfaces()[name] ?? []).flatMap(({ address, cidr }) => (cidr === null ? [] : { address, cidr }));

const addressFor = (name: string, profiles: readonly RouterProfile[]): string => {
  for (const { config, ordinal } of profiles) {
    const { session } = config as Addressed;
    const local = session?.localAddress ?? session?.transportAddress ?? session?.lsrId;
    if (local !== undefined) return addressAfter(local, ordinal);
  }
  const own = ownAddresses(name).find(({ address }) => !isV6(address)) ?? ownAddresses(name)[0];
  if (own === undefined) throw new RangeError(`${name} has no address and the profiles of its router name none`);
  return own.address;
};

export const isLinkLocalAddress = (address: string): boolean => /^fe[89ab][0-9a-f]:/i.test(address);

const linkLocalNetwork = 'fe80::/64';

const needsLinkLocal = ({ protocol, config }: RouterProfile, address: string): boolean => {
  const { instance, joins, session } = config as Addressed;
  const version = instance?.version;
  if (protocol === 'bfd') return isLinkLocalAddress(session?.peerAddress ?? '');
  if (protocol === 'mld' || protocol === 'mld-querier') return true;
  if (protocol === 'ldp') return isV6(address);
  if (protocol === 'pim') return isV6(joins?.groupStart ?? address);
  if (protocol === 'isis') return instance?.protocols?.includes('ipv6') === true;
  return (protocol === 'ospf' && version === 3) || (protocol === 'rip' && version === 'ng');
};

/** Ends as the address of the router, so that both have the same MAC and no other router of the link has it. */
const linkLocalOf = (address: string): string => {
  const words = parseAddress(address);
  if (!isV6(address)) words[2] = 0;
  words[0] = 0xfe800000 | 0;
  words[1] = 0;
  return formatAddress(words);
};

/** First address of the network of that many bits around an address. */
const networkAddress = (address: string, bits: number): string => {
  const words = parseAddress(address);
  const leading = bits + (isV6(address) ? 0 : 96);
  for (let word = 0; word < 4; word++) {
    const left = leading - word * 32;
    if (left < 32) words[word] = left <= 0 ? 0 : (words[word] as number) & ~(0xffffffff >>> left);
  }
  return formatAddress(words);
};

const contains = (cidr: string, address: string): boolean => {
  const [network = '', bits = '0'] = cidr.split('/');
  return (
    isV6(network) === isV6(address) && networkAddress(network, Number(bits)) === networkAddress(address, Number(bits))
  );
};

/** The network of an address: the one of the interface that contains it, or one of the usual size. */
const subnetOf = (name: string, address: string): string => {
  if (contains(linkLocalNetwork, address)) return linkLocalNetwork;
  const own = ownAddresses(name).find(({ cidr }) => contains(cidr, address))?.cidr;
  const bits = own === undefined ? (isV6(address) ? 64 : 24) : Number(own.split('/')[1]);
  return `${networkAddress(address, bits)}/${bits}`;
};

const maskOf = (name: string, address: string): number => {
  const bits = Number(subnetOf(name, address).split('/')[1]);
  return isV6(address) || bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
};

/** Hosts with MACs of their own, except the one that has the address of the interface. */
const networkOf = (name: string, address: string, peers: readonly string[]): StackNetwork[] => {
  const subnet = subnetOf(name, address);
  const isOwn = ownAddresses(name).some((own) => own.address === address);
  const macs = isOwn ? {} : { macs: { network: { subnet, macPolicy: { mode: 'derived' } }, records: [] } };
  const far = peers.find((peer) => isV6(peer) === isV6(address) && !contains(subnet, peer));
  return [{ subnet, hosts: [address], ...macs, ...(far !== undefined && { gateway: far }) }];
};

/** Whom a router speaks to, wherever it is. */
const farEndOf = ({ session, rendezvous }: Addressed): string | undefined =>
  session?.peerAddress ?? rendezvous?.address;

const uniqueNetworks = (name: string, routers: readonly PlannedRouter[]): StackNetwork[] => {
  const networks = new Map<string, StackNetwork>();
  for (const { router, profiles } of routers) {
    const peers = profiles.flatMap(({ config }) => farEndOf(config as Addressed) ?? []);
    const { address, linkLocal = address } = router;
    const second = linkLocal === address ? [] : networkOf(name, linkLocal, []);
    for (const network of [...networkOf(name, address, peers), ...second]) {
      const key = JSON.stringify({ ...network, hosts: [] });
      const known = networks.get(key);
      if (known === undefined) networks.set(key, network);
      else known.hosts.push(...network.hosts);
    }
  }
  return [...networks.values()].map((network) => ({ ...network, hosts: joinRanges(network.hosts) }));
};

/** Consecutive addresses become one range. */
const joinRanges = (addresses: readonly string[]): string[] => {
  const ranges: { first: string; last: string }[] = [];
  for (const address of addresses) {
    const range = ranges.at(-1);
    if (range !== undefined && addressAfter(range.last, 1) === address) range.last = address;
    else ranges.push({ first: address, last: address });
  }
  return ranges.map(({ first, last }) => (first === last ? first : `${first}-${last}`));
};

/** Every router of a job with its address, by interface. */
export const planRouters = ({ interfaces, profiles }: ControlPlaneConfig): RouterSite[] => {
  const sites = new Map<string, PlannedRouter[]>();
  const taken = new Set<string>();
  interfaces.forEach((group, index) => {
    const [name, ...more] = group;
    if (name === undefined || more.length > 0)
      throw new RangeError(`router ${index} has ${group.length} interfaces; emulated routers have one`);
    const own = profilesFor(index, interfaces.length, profiles);
    const address = formatAddress(parseAddress(addressFor(name, own)));
    const known = sites.get(name) ?? [];
    if (taken.has(`${name} ${address}`)) throw new RangeError(`two routers on ${name} have the address ${address}`);
    taken.add(`${name} ${address}`);
    const linkLocal = own.some((profile) => needsLinkLocal(profile, address)) ? linkLocalOf(address) : undefined;
    known.push({
      router: { index, address, linkLocal, mask: maskOf(name, address), isMachine: isMachineAddress(address) },
      profiles: own,
    });
    sites.set(name, known);
  });
  return [...sites].map(([name, routers]) => ({
    routers,
    stack: {
      interface: name,
      networks: uniqueNetworks(name, routers),
      vlan: [],
      header: {},
      tcp: {},
      // Routing protocols need multicast and other frames, which AF_XDP does not deliver.
      path: 'af_packet',
    },
  }));
};

const isMachineAddress = (address: string): boolean =>
  Object.values(networkInterfaces()).some((list) => list?.some((one) => one.address === address));
