import type { PlaneCommand } from '@rushhour/protocol';
import {
  type GroupQuerier,
  IgmpQuerier,
  type Membership,
  MldQuerier,
  type QuerierEvents,
  type QuerierOptions,
} from '@rushhour/wire';
import type { QuerierProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';
import { type GroupPort, igmpPort, mldPort } from './group-port.ts';

interface QuerierParts<Address> {
  readonly protocol: 'igmp-querier' | 'mld-querier';
  readonly port: GroupPort<Address>;
  create(options: QuerierOptions<Address>, events: QuerierEvents<Address>): GroupQuerier<Address>;
}

/** A querier of IGMP or MLD on its emulated host. */
export class QuerierInstance<Address> implements ProtocolInstance {
  readonly protocol: string;
  readonly router: Router;
  readonly #querier: GroupQuerier<Address>;
  readonly #port: GroupPort<Address>;

  constructor(
    { profile, router }: InstanceOptions<QuerierProfile>,
    context: PlaneContext,
    { protocol, port, create }: QuerierParts<Address>,
  ) {
    const { routerAlert: _, yieldToLower, ...querier } = profile.querier;
    this.protocol = protocol;
    this.router = router;
    this.#port = port;
    this.#querier = create(
      { ...querier, address: port.address, yieldsToLower: yieldToLower },
      {
        send: (bytes, destination) => port.send(bytes, destination),
        onQuerier: (address) => context.event(protocol, router, `${port.textOf(address)} is the querier`),
      },
    );
  }

  get counters(): InstanceCounters {
    const { tx, rx, joins } = this.#querier.counters;
    return { tx, rx, flaps: 0, prefixesSent: 0, prefixesReceived: joins };
  }

  start(now: number): void {
    this.#querier.start(now);
  }

  advance(now: number): void {
    this.#querier.advance(now);
  }

  stop(): void {
    this.#querier.stop();
  }

  receive(bytes: Uint8Array, source: Address): void {
    this.#querier.receive(bytes, source, performance.now());
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    if (action === 'start' || action === 'linkUp') this.#querier.start(now);
    else if (action === 'stop' || action === 'linkDown') this.#querier.stop();
    else if (action === 'restart' || action === 'disconnect') {
      this.#querier.stop();
      this.#querier.start(now);
    } else return `queriers cannot do ${action}`;
    return undefined;
  }

  /** One row: who asks. */
  neighbours(now: number): readonly NeighbourRow[] {
    const { querier, isRunning, groups, lastError, startedAt } = this.#querier;
    const isOwn = querier === this.#port.address;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: 'hosts',
        state: !isRunning ? 'down' : isOwn ? 'querier' : `silent, ${this.#port.textOf(querier)} asks`,
        isUp: isRunning,
        uptimeMs: isRunning ? Math.round(now - startedAt) : 0,
        flaps: 0,
        routesSent: 0,
        routesReceived: groups.size,
        databaseSize: 0,
        lastError,
      },
    ];
  }

  /** The groups that hosts have joined. */
  routes(limit: number): readonly RouteRow[] {
    const now = performance.now();
    const { textOf, family } = this.#port;
    return [...this.#querier.groups.values()].slice(0, Math.max(0, limit)).map((membership) => ({
      router: this.router.address,
      neighbour: textOf(membership.reporter),
      protocol: this.protocol,
      family,
      route: textOf(membership.group),
      nextHop: '',
      detail: this.#detailOf(membership, now),
    }));
  }

  #detailOf({ expiresAt, sources }: Membership<Address>, now: number): string {
    if (expiresAt > now) return 'all sources';
    return `sources ${[...sources.keys()].map(this.#port.textOf).join(' ')}`;
  }
}

export const createIgmpQuerier = (options: InstanceOptions<QuerierProfile>, context: PlaneContext) => {
  const { router, host, profile } = options;
  if (router.address.includes(':')) throw new RangeError(`IGMP of ${router.address} needs an IPv4 address`);
  const port = igmpPort({ address: router.address, host, hasAlert: profile.querier.routerAlert }, context);
  return new QuerierInstance(options, context, {
    protocol: 'igmp-querier',
    port,
    create: (querier, events) => new IgmpQuerier(querier, events),
  });
};

/** Queriers of MLD ask from the link-local address of their router. */
export const createMldQuerier = (options: InstanceOptions<QuerierProfile>, context: PlaneContext) => {
  const { router, host, profile } = options;
  const address = router.linkLocal ?? router.address;
  const port = mldPort({ address, host, hasAlert: profile.querier.routerAlert }, context);
  return new QuerierInstance(options, context, {
    protocol: 'mld-querier',
    port,
    create: (querier, events) => new MldQuerier(querier, events),
  });
};
