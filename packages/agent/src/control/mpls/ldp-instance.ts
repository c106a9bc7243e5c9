import type { PlaneCommand } from '@rushhour/protocol';
import {
  FlapSchedule,
  formatAddress,
  LdpBindings,
  type LdpExtension,
  type LdpNeighbour,
  LdpRouter,
  type LdpSession,
  type LdpStream,
  ldpGroups,
  ldpPort,
  parseAddress,
} from '@rushhour/wire';
import type { Connection, ConnectionEvents } from '../../net/transport/transport.ts';
import type { LdpProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';
import { routerIdOf } from '../routing/bgp-options.ts';

const bindingsOf = ({ profile, router, ordinal }: InstanceOptions<LdpProfile>): LdpBindings => {
  const { bindings } = profile;
  const isV6 = router.address.includes(':');
  const count = isV6 ? bindings.ipv6Count : bindings.count;
  return new LdpBindings({
    address: router.address,
    isImplicitNull: bindings.implicitNull,
    count,
    start: isV6 ? bindings.ipv6Start : bindings.start,
    offset: ordinal * count,
    firstLabel: bindings.labelStart,
  });
};

const optionsOf = (options: InstanceOptions<LdpProfile>) => {
  const { profile, router, ordinal } = options;
  const { session, targeted } = profile;
  return {
    lsrId: routerIdOf(session.lsrId, router.address, session.lsrId === undefined ? 0 : ordinal),
    address: router.address,
    helloMs: session.helloSec * 1000,
    helloHoldSec: session.helloHoldSec,
    keepaliveMs: session.keepaliveSec * 1000,
    holdSec: session.holdSec,
    targeted: {
      peers: targeted.peers.map((peer) => formatAddress(parseAddress(peer))),
      helloMs: targeted.helloSec * 1000,
      holdSec: targeted.holdSec,
      accepts: targeted.accept,
    },
    bindings: bindingsOf(options),
  };
};

/** A label switching router on its emulated host. */
export class LdpInstance implements ProtocolInstance {
  readonly protocol = 'ldp';
  readonly router: Router;
  readonly lsrId: number;
  /** Labels that the router gives out. */
  readonly bindings: LdpBindings;
  readonly #ldp: LdpRouter;
  readonly #context: PlaneContext;
  readonly #flaps: FlapSchedule;
  readonly #host: number;
  /** Host and address that link hellos of IPv6 come from; those of the router otherwise. */
  readonly #linkHost: number;
  readonly #linkAddress: Int32Array;
  readonly #key = new Int32Array(9);
  #startedAt = 0;

  constructor(options: InstanceOptions<LdpProfile>, context: PlaneContext) {
    const { profile, router, host } = options;
    if (router.isMachine)
      throw new RangeError(`LDP of ${router.address}: the machine has this address; set session.transportAddress`);
    this.router = router;
    this.#context = context;
    this.#host = host;
    const { address, linkLocal = address } = router;
    const link = address.includes(':') ? linkLocal : address;
    this.#linkAddress = parseAddress(link);
    this.#linkHost = link === address ? host : context.layers.hostOf(this.#linkAddress);
    this.#key[8] = (ldpPort << 16) | ldpPort;
    const { intervalSec, downSec, count } = profile.flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
    const own = optionsOf(options);
    this.lsrId = own.lsrId;
    this.bindings = own.bindings;
    this.#ldp = new LdpRouter(own, {
      sendHello: (bytes, destination) => this.#sendHello(bytes, destination),
      connect: (destination, attach) => this.#connect(destination, attach),
      onNeighbour: (neighbour, isUp, reason, now) => this.#onNeighbour(neighbour, isUp, reason, now),
    });
  }

  get counters(): InstanceCounters {
    return this.#ldp.counters;
  }

  /** Adds what uses the sessions of the router. `peers`: neighbours that need not be adjacent. */
  extend(extension: LdpExtension, peers: readonly string[]): void {
    this.#ldp.extend(extension, peers);
  }

  /** The label of a prefix such as `10.0.0.0/24` and the neighbour that has given it; undefined: there is none. */
  pathTo(prefix: string): { readonly label: number; readonly neighbour: string } | undefined {
    for (const { transport, session } of this.#ldp.neighbours.values()) {
      const label = session?.labels.get(prefix);
      if (label !== undefined) return { label, neighbour: transport };
    }
    return undefined;
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#flaps.start(now);
    this.#ldp.start(now);
  }

  advance(now: number): void {
    const change = this.#flaps.advance(now);
    if (change === 'up') this.#ldp.start(now);
    else if (change === 'down') this.#ldp.stop(now);
    this.#ldp.advance(now);
  }

  stop(now: number): void {
    this.#ldp.stop(now);
  }

  receiveHello(bytes: Uint8Array, source: string): void {
    this.#ldp.receiveHello(bytes, source, performance.now());
  }

  /** Takes a connection that a neighbour has opened; undefined: none is expected. */
  accept(connection: Connection, source: string): ConnectionEvents | undefined {
    const session = this.#ldp.accept(streamOf(connection), source, performance.now());
    return session === undefined ? undefined : eventsOf(() => session);
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    const ldp = this.#ldp;
    if (action === 'start' || action === 'linkUp') ldp.start(now);
    else if (action === 'stop') ldp.stop(now);
    else if (action === 'linkDown') ldp.interrupt(now);
    else if (action === 'announce') ldp.announce();
    else if (action === 'withdraw') ldp.withdraw();
    else if (action === 'restart' || action === 'disconnect') {
      if (action === 'restart') ldp.interrupt(now);
      else ldp.stop(now);
      ldp.start(now);
    } else return `LDP routers cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const rows = [...this.#ldp.neighbours.values()].map((one) => this.#rowOf(one, now));
    return rows.length > 0 ? rows : [this.#rowOf(undefined, now)];
  }

  /** Labels of the neighbours. */
  routes(limit: number): readonly RouteRow[] {
    const rows: RouteRow[] = [];
    for (const { transport, session } of this.#ldp.neighbours.values())
      for (const [route, label] of session?.labels ?? []) {
        if (rows.length >= limit) return rows;
        const detail = `label ${label}`;
        const family = route.includes(':') ? 'ipv6Label' : 'ipv4Label';
        rows.push({
          router: this.router.address,
          neighbour: transport,
          protocol: 'ldp',
          family,
          route,
          nextHop: transport,
          detail,
        });
      }
    return rows;
  }

  #rowOf(neighbour: LdpNeighbour | undefined, now: number): NeighbourRow {
    const session = neighbour?.session;
    const isUp = session?.state === 'operational';
    return {
      router: this.router.address,
      protocol: 'ldp',
      neighbour: neighbour?.transport ?? '',
      state: session?.state ?? 'down',
      isUp,
      uptimeMs: isUp ? Math.round(now - (neighbour?.upAt ?? now)) : 0,
      flaps: this.#ldp.counters.flaps,
      routesSent: session?.labelsSent ?? 0,
      routesReceived: session?.labels.size ?? 0,
      databaseSize: 0,
      lastError: this.#ldp.lastError,
    };
  }

  /** Hellos to the link come from its own addresses (RFC 7552, section 5.1). */
  #sendHello(bytes: Uint8Array, destination: string): void {
    const { group, scheduleFlush } = this.#context.layers;
    const isLink = destination === ldpGroups.ipv4 || destination === ldpGroups.ipv6;
    this.#key.set(isLink ? this.#linkAddress : parseAddress(this.router.address));
    this.#key.set(parseAddress(destination), 4);
    group.udp.send(this.#key, isLink ? this.#linkHost : this.#host, bytes);
    scheduleFlush();
  }

  #connect(destination: string, attach: (stream: LdpStream) => LdpSession): void {
    let target: LdpSession | undefined;
    const route = { address: destination, port: ldpPort, localAddress: this.router.address };
    const events = eventsOf(() => target);
    target = attach(streamOf(this.#context.transport.connect(route, events)));
  }

  #onNeighbour({ transport }: LdpNeighbour, isUp: boolean, reason: string, now: number): void {
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else this.#startedAt = now;
    const text = `session with ${transport} ${isUp ? 'operational' : `down: ${reason}`}`;
    this.#context.event('ldp', this.router, text);
  }
}

const eventsOf = (target: () => LdpSession | undefined): ConnectionEvents => ({
  onOpen: (now) => target()?.opened(now),
  onData: ({ bytes, start, end, now }) => target()?.received(bytes.subarray(start, end), now),
  onSent: () => target()?.onRoom(),
  onClose: (code, now) => target()?.closed(now, code),
});

const streamOf = (connection: Connection): LdpStream => ({
  write: (bytes) => connection.write({ bytes, address: 0 }),
  close: () => connection.close(),
});
