import { readFileSync } from 'node:fs';
import type { StreamClientConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { type Device, requireDevice } from '../../net/packet/device.ts';
import { parseMac } from '../../net/packet/frame/link-layers.ts';
import { NeighbourResolver, NextHopSilent } from '../../net/packet/neighbour-resolver.ts';
import { findRoute, type PacketRoute } from '../../net/packet/route.ts';
import { sourceAddressesOf } from './origins.ts';
import { gapBytes, type SizePlan } from './sizes.ts';

type Context = EngineContext<StreamClientConfig>;
const nothing = Buffer.alloc(6);

/** The way from this machine to the targets: by which interface, over whom, from which addresses. */
export class StreamPath {
  readonly device: Device;
  readonly addresses: readonly string[];
  readonly #routes: readonly PacketRoute[];
  readonly #context: Context;
  readonly #neighbourhood: NeighbourResolver | undefined;
  readonly #macs = new Map<string, Buffer>();

  constructor(context: Context, routes: readonly PacketRoute[], version: 4 | 6) {
    const [first] = routes as [PacketRoute];
    if (routes.some(({ device }) => device !== first.device))
      throw new RangeError('targets are reached by several interfaces: name one');
    this.device = requireDevice(first.device);
    this.addresses = sourceAddressesOf(context.config.sources, version, first.source);
    this.#routes = routes;
    this.#context = context;
    const emulated = new Set(this.addresses);
    const own = new Set(context.host.addresses);
    if (first.isLoopback) return;
    this.#neighbourhood = new NeighbourResolver(
      { device: this.device, poller: epollPoller() },
      // What the machine has itself it answers for, except in a VLAN of which it knows nothing.
      (address, isTagged) => emulated.has(address) && (isTagged || !own.has(address)),
    );
  }

  /** Asks all next hops that are not known yet. False when one is silent. */
  async resolve(patienceMs: number): Promise<boolean> {
    const { config } = this.#context;
    const { tunnel, vlan: tags } = config.headers;
    const address = tunnel?.source ?? (this.addresses[0] as string);
    const hops = new Set(this.#routes.map(({ nextHop }) => nextHop));
    await Promise.all(
      [...hops].map(async (hop) => {
        const mac = this.#given() ?? (await this.#neighbourhood?.resolve(hop, { address, tags }, patienceMs));
        if (mac !== undefined) this.#macs.set(hop, mac);
      }),
    );
    return this.#macs.size === hops.size;
  }

  /** The MAC that frames to the target of this number go to. */
  nextHopMac(target: number): Buffer {
    const { nextHop } = this.#routes[target] as PacketRoute;
    const mac = this.#macs.get(nextHop);
    if (mac !== undefined) return mac;
    throw new NextHopSilent(`${nextHop} does not answer who it is on ${this.device.name}`);
  }

  /** Frames a second that the ordered load amounts to. */
  ratePps(rate: number, { meanBytes }: Pick<SizePlan, 'meanBytes'>): number {
    const { loadUnit } = this.#context.config;
    if (loadUnit === 'pps') return rate;
    if (loadUnit === 'bps') return rate / (8 * meanBytes);
    return ((rate / 100) * lineRateBps(this.device.name)) / (8 * (meanBytes + gapBytes));
  }

  close(): void {
    this.#neighbourhood?.close();
  }

  #given(): Buffer | undefined {
    const { nextHopMac } = this.#context.config;
    if (nextHopMac !== undefined) return parseMac(nextHopMac);
    return this.#neighbourhood === undefined ? nothing : undefined;
  }
}

/** Undefined where the interface does not say it. */
export const findLineRateBps = (device: string): number | undefined => {
  let mbps = Number.NaN;
  try {
    mbps = Number(readFileSync(`/sys/class/net/${device}/speed`, 'utf8'));
  } catch {
    // The kernel refuses to read it where there is none.
  }
  return mbps > 0 ? mbps * 1e6 : undefined;
};

const lineRateBps = (device: string): number => {
  const found = findLineRateBps(device);
  if (found !== undefined) return found;
  throw new RangeError(`${device} does not say how fast it is: give a rate in frames or bits`);
};

export const prepareStreamPath = async (context: Context): Promise<StreamPath> => {
  const { config } = context;
  const ends = config.targets.map(({ host }) => context.addressOf(host));
  const version = ends[0]?.includes(':') ? 6 : 4;
  if (ends.some((address) => address.includes(':') !== (version === 6)))
    throw new RangeError('targets have addresses of both versions');
  const { tunnel } = config.headers;
  const hops = tunnel === undefined ? ends : ends.map(() => context.addressOf(tunnel.destination));
  const routes = new Map<string, PacketRoute>();
  for (const hop of new Set(hops)) routes.set(hop, await findRoute(hop, config.interface));
  return new StreamPath(
    context,
    hops.map((hop) => routes.get(hop) as PacketRoute),
    version,
  );
};
