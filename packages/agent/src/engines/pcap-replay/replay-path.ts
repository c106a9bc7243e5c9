import type { EngineContext } from '../../engine.ts';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { type Device, requireDevice } from '../../net/packet/device.ts';
import { parseMac } from '../../net/packet/frame/link-layers.ts';
import { NeighbourResolver } from '../../net/packet/neighbour-resolver.ts';
import { findOwner, findRoute, outwardDevices, type PacketRoute, RouteMissing } from '../../net/packet/route.ts';

const nobody = Buffer.alloc(6);

export interface ReplayPathOptions {
  readonly host: EngineContext<unknown>['host'];
  /** An address of the other side. */
  readonly peer: string;
  /** An address of this side; default: the address of the machine. */
  readonly own: string | undefined;
  /** Whether an address of this side is emulated. */
  readonly isEmulated: (address: string) => boolean;
  readonly interface: string | undefined;
  readonly nextHopMac: string | undefined;
  /** VLAN of the frames. */
  readonly vlan: number | undefined;
}

/** Treats the peer as an on-link neighbour when there is no route. */
const neighbourRoute = ({ peer, own, interface: named }: ReplayPathOptions, cause: RouteMissing): PacketRoute => {
  const outward = outwardDevices();
  const device = named ?? (own && findOwner(own)) ?? (outward.length === 1 ? outward[0] : undefined);
  if (device === undefined) throw cause;
  return { device, nextHop: peer, source: own ?? peer, isLoopback: false };
};

/** Path from this machine to the peer: interface and next hop. */
export class ReplayPath {
  readonly device: Device;
  readonly #options: ReplayPathOptions;
  readonly #route: PacketRoute;
  readonly #neighbourhood: NeighbourResolver | undefined;

  private constructor(options: ReplayPathOptions, route: PacketRoute) {
    this.#options = options;
    this.#route = route;
    this.device = requireDevice(route.device);
    if (route.isLoopback) return;
    const own = new Set(options.host.addresses);
    this.#neighbourhood = new NeighbourResolver(
      { device: this.device, poller: epollPoller() },
      // The kernel answers for its own addresses, except in VLANs it is not configured for.
      (address, isTagged) => options.isEmulated(address) && (isTagged || !own.has(address)),
    );
  }

  static async find(options: ReplayPathOptions): Promise<ReplayPath> {
    const route = await findRoute(options.peer, options.interface).catch((error: unknown) => {
      if (error instanceof RouteMissing) return neighbourRoute(options, error);
      throw error;
    });
    return new ReplayPath(options, route);
  }

  get nextHop(): string {
    return this.#route.nextHop;
  }

  /** MAC of the next hop; undefined when it does not answer. */
  async resolve(patienceMs: number): Promise<Buffer | undefined> {
    const { nextHopMac, own, vlan } = this.#options;
    if (nextHopMac !== undefined) return parseMac(nextHopMac);
    if (this.#neighbourhood === undefined) return nobody;
    const tags = vlan === undefined || vlan === 0 ? [] : [{ id: vlan, priority: 0, type: 0x8100 }];
    return this.#neighbourhood.resolve(this.nextHop, { address: own ?? this.#route.source, tags }, patienceMs);
  }

  close(): void {
    this.#neighbourhood?.close();
  }
}
