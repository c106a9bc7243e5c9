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
  /** An address of this side; the machine's own where it is not said. */
  readonly own: string | undefined;
  /** Addresses of this side that no interface has. */
  readonly isEmulated: (address: string) => boolean;
  readonly interface: string | undefined;
  readonly nextHopMac: string | undefined;
  /** The VLAN that frames go into. */
  readonly vlan: number | undefined;
}

/** Where the other side is a neighbour although no route says so. */
const neighbourRoute = ({ peer, own, interface: named }: ReplayPathOptions, cause: RouteMissing): PacketRoute => {
  const outward = outwardDevices();
  const device = named ?? (own && findOwner(own)) ?? (outward.length === 1 ? outward[0] : undefined);
  if (device === undefined) throw cause;
  return { device, nextHop: peer, source: own ?? peer, isLoopback: false };
};

/** The way from this machine to the other side: by which interface, and over whom. */
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
      // What the machine has itself it answers for, except in a VLAN of which it knows nothing.
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

  /** The MAC of the next hop; undefined when it is silent. */
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
