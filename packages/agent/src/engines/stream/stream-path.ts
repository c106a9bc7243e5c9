import { readFileSync } from 'node:fs';
import type { StreamClientConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../engine.ts';
import { noteUnusedSources } from '../../net/addresses/source-addresses.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { type Device, requireDevice } from '../../net/packet/device.ts';
import { parseMac } from '../../net/packet/frame/link-layers.ts';
import { NeighbourResolver, NextHopSilent } from '../../net/packet/neighbour-resolver.ts';
import { findRoute, type PacketRoute } from '../../net/packet/route.ts';
import { HostMacs } from './host-macs.ts';
import { sourceAddressesOf } from './origins.ts';
import { gapBytes, type SizePlan } from './sizes.ts';

type Context = EngineContext<StreamClientConfig>;
const nothing = Buffer.alloc(6);

interface StreamRoute extends PacketRoute {
  /** Where it is given. */
  readonly nextHopMac?: string;
}

/** Addresses that frames are sent to: of the targets, and of the end of a tunnel. */
export const hostsOf = ({
  targets,
  headers: { tunnel },
}: Pick<StreamClientConfig, 'targets' | 'headers'>): string[] => {
  const hosts = targets.map(({ host }) => host);
  return tunnel === undefined ? hosts : [...hosts, tunnel.destination];
};

/** Path from this machine to the targets: interface, next hops and source addresses. */
export class StreamPath {
  readonly device: Device;
  readonly addresses: readonly string[];
  /** MACs of the source addresses. */
  readonly hostMacs: HostMacs;
  readonly #routes: readonly StreamRoute[];
  readonly #context: Context;
  readonly #neighbourhood: NeighbourResolver | undefined;
  readonly #macs = new Map<string, Buffer>();

  constructor(context: Context, routes: readonly StreamRoute[], version: 4 | 6) {
    const [first] = routes as [StreamRoute];
    if (routes.some(({ device }) => device !== first.device))
      throw new RangeError('the targets are reached through several interfaces: set one');
    this.device = requireDevice(first.device);
    this.hostMacs = new HostMacs(context.config.hosts, this.device.mac);
    this.addresses = sourceAddressesOf(context.config.sources, version, first.source);
    const used = { available: this.addresses.length, used: context.config.streams, per: 'stream' };
    noteUnusedSources(context.note, used);
    this.#routes = routes;
    this.#context = context;
    const emulated = new Set(this.addresses);
    const own = new Set(context.host.addresses);
    if (first.isLoopback) return;
    const macOf = this.hostMacs.hasOthers ? (host: string) => this.hostMacs.of(host) : undefined;
    this.#neighbourhood = new NeighbourResolver(
      { device: this.device, poller: epollPoller(), macOf },
      // The kernel answers for its own addresses, except in VLANs it is not configured for.
      (address, isTagged) => emulated.has(address) && (isTagged || !own.has(address)),
    );
  }

  /** Resolves the MACs of all next hops. False when one does not answer. */
  async resolve(patienceMs: number): Promise<boolean> {
    const { config } = this.#context;
    const { tunnel, vlan: tags } = config.headers;
    const address = tunnel?.source ?? (this.addresses[0] as string);
    const hops = new Map(this.#routes.map((route) => [route.nextHop, route] as const));
    await Promise.all(
      [...hops].map(async ([hop, route]) => {
        const mac = this.#given(route) ?? (await this.#neighbourhood?.resolve(hop, { address, tags }, patienceMs));
        if (mac !== undefined) this.#macs.set(hop, mac);
      }),
    );
    return this.#macs.size === hops.size;
  }

  /** MAC of the next hop towards a target. */
  nextHopMac(target: number): Buffer {
    const { nextHop } = this.#routes[target] as StreamRoute;
    const mac = this.#macs.get(nextHop);
    if (mac !== undefined) return mac;
    throw new NextHopSilent(`${nextHop} does not answer ARP or ND on ${this.device.name}`);
  }

  /** The configured load in frames per second. */
  ratePps(rate: number, { meanBytes }: Pick<SizePlan, 'meanBytes'>): number {
    const { loadUnit } = this.#context.config;
    if (loadUnit === 'pps') return rate;
    if (loadUnit === 'bps') return rate / (8 * meanBytes);
    return ((rate / 100) * lineRateBps(this.device.name)) / (8 * (meanBytes + gapBytes));
  }

  close(): void {
    this.#neighbourhood?.close();
  }

  #given({ nextHopMac = this.#context.config.nextHopMac }: StreamRoute): Buffer | undefined {
    if (nextHopMac !== undefined) return parseMac(nextHopMac);
    return this.#neighbourhood === undefined ? nothing : undefined;
  }
}

/** Undefined when the interface does not report a speed. */
export const findLineRateBps = (device: string): number | undefined => {
  let mbps = Number.NaN;
  try {
    mbps = Number(readFileSync(`/sys/class/net/${device}/speed`, 'utf8'));
  } catch {
    // Reading fails for interfaces without a speed.
  }
  return mbps > 0 ? mbps * 1e6 : undefined;
};

const lineRateBps = (device: string): number => {
  const found = findLineRateBps(device);
  if (found !== undefined) return found;
  throw new RangeError(`${device} reports no link speed: set the rate in frames or bits`);
};

/** By the gateway of the hosts where they have one of their own, else as the machine's routing table says. */
const routeTo = async (hop: string, config: StreamClientConfig): Promise<StreamRoute> => {
  const gateway = new HostMacs(config.hosts, nothing).gatewayTo(hop);
  if (gateway === undefined) return findRoute(hop, config.interface);
  const route = await findRoute(gateway.address, config.interface);
  return { ...route, ...(gateway.mac !== undefined && { nextHopMac: gateway.mac }) };
};

export const prepareStreamPath = async (context: Context): Promise<StreamPath> => {
  const { config } = context;
  const ends = config.targets.map(({ host }) => context.addressOf(host));
  const version = ends[0]?.includes(':') ? 6 : 4;
  if (ends.some((address) => address.includes(':') !== (version === 6)))
    throw new RangeError('targets mix IPv4 and IPv6 addresses');
  const { tunnel } = config.headers;
  const hops = tunnel === undefined ? ends : ends.map(() => context.addressOf(tunnel.destination));
  const routes = new Map<string, StreamRoute>();
  for (const hop of new Set(hops)) routes.set(hop, await routeTo(hop, config));
  return new StreamPath(
    context,
    hops.map((hop) => routes.get(hop) as StreamRoute),
    version,
  );
};
