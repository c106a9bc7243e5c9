import type { PlaneCommand } from '@rushhour/protocol';
import {
  type BgpConnection,
  BgpSession,
  type BgpStream,
  ceaseReason,
  describeAttributes,
  FlapSchedule,
} from '@rushhour/wire';
import type { Connection, ConnectionEvents } from '../../net/transport/transport.ts';
import type { EvpnFabric } from '../routers/evpn-fabric.ts';
import type { BgpProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';
import {
  type BgpInstanceOptions,
  bgpSessionOptions,
  type CarriedWires,
  carriedWiresOf,
  evpnRoutesOf,
  importedRoutesOf,
} from './bgp-options.ts';

export const bgpPort = 179;

/** Takes a part of the routes away and announces it again later. */
class Churn {
  readonly #share: number;
  readonly #schedule: FlapSchedule;
  #from = 0;

  constructor({ intervalSec, downSec, sharePct }: BgpProfile['churn']) {
    this.#share = sharePct / 100;
    this.#schedule = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count: 0 });
  }

  start(now: number): void {
    this.#schedule.start(now);
  }

  advance(now: number, session: BgpSession): void {
    const change = this.#schedule.advance(now);
    if (change === undefined) return;
    const to = this.#from + this.#share;
    session.change({ from: this.#from, to, isWithdrawn: change === 'down' });
    if (change === 'up') this.#from = to >= 1 ? 0 : to;
  }
}

/** A BGP session of an emulated router. */
export class BgpInstance implements ProtocolInstance {
  readonly protocol = 'bgp';
  readonly session: BgpSession;
  readonly router: Router;
  readonly peer: string;
  readonly ttl: number;
  /** The session ends with a BFD session. */
  readonly isWatched: boolean;
  /** For each profile of VPWS, or of VPLS by BGP, of the router. */
  readonly wires: readonly CarriedWires[];
  readonly #profile: BgpProfile;
  readonly #context: PlaneContext;
  readonly #flaps: FlapSchedule;
  readonly #churn: Churn;
  readonly #fabrics: readonly EvpnFabric[];
  #startedAt = 0;

  constructor(options: BgpInstanceOptions, context: PlaneContext) {
    const { profile, router } = options;
    const peer = profile.session.peerAddress;
    if (peer === undefined) throw new RangeError(`BGP of ${router.address} has no neighbour: set session.peerAddress`);
    if (router.isMachine)
      throw new RangeError(`BGP of ${router.address}: the machine has this address; set session.localAddress`);
    this.router = router;
    this.peer = peer;
    this.ttl = profile.session.ttl;
    this.isWatched = profile.session.bfd;
    this.#profile = profile;
    this.#context = context;
    this.#churn = new Churn(profile.churn);
    const { intervalSec, downSec, count } = profile.flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
    const mac = new Uint8Array(6);
    context.layers.writeMac(options.host, mac, 0);
    const evpn = evpnRoutesOf(options, mac);
    this.wires = carriedWiresOf(options);
    const table = context.tables.get(profile);
    const more = [
      ...evpn.flatMap(({ routes }) => routes.sources()),
      ...this.wires.flatMap(({ wires }) => wires.sources()),
      ...(table === undefined ? [] : importedRoutesOf(options, table)),
    ];
    this.session = new BgpSession(bgpSessionOptions(options, more), {
      connect: (attach) => this.#connect(attach),
      onState: (state) => {
        if (state === 'established') this.#onUp();
      },
      onDown: (reason) => {
        this.#startedAt = performance.now();
        context.event('bgp', router, `session with ${peer} down: ${reason}`);
      },
      onRefresh: () => this.#correctMoves(false),
    });
    this.#fabrics = evpn.map(({ profile: fabric }) => context.fabrics.of(fabric));
    evpn.forEach(({ ordinal, routes }, i) => {
      this.#fabrics[i]?.join({ ordinal, routes, session: this.session });
    });
  }

  get counters(): InstanceCounters {
    const { counters, announcer, rib } = this.session;
    return {
      tx: counters.tx,
      rx: counters.rx,
      flaps: counters.flaps,
      prefixesSent: announcer.counters.announced,
      prefixesReceived: rib.counters.announced,
    };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#flaps.start(now);
    this.#churn.start(now);
    for (const fabric of this.#fabrics) fabric.start(now);
    this.session.start(now);
  }

  advance(now: number): void {
    const change = this.#flaps.advance(now);
    if (change === 'up') this.session.start(now);
    else if (change === 'down') this.#interrupt(now);
    this.#churn.advance(now, this.session);
    for (const fabric of this.#fabrics) fabric.advance(now);
    this.session.advance(now);
  }

  stop(now: number): void {
    this.session.stop(now);
  }

  command({ action, values }: PlaneCommand, now: number): string | undefined {
    const { session } = this;
    if (values !== undefined) return `${action} of single routes cannot be done`;
    if (action === 'start') session.start(now);
    else if (action === 'stop') session.stop(now);
    else if (action === 'restart') session.restart(now);
    else if (action === 'disconnect') session.stop(now, ceaseReason.reset);
    else if (action === 'announce' || action === 'withdraw') this.#change(action === 'withdraw');
    else return `BGP sessions cannot do ${action}`;
    if (action === 'restart' || action === 'disconnect') session.start(now);
    return undefined;
  }

  /** Takes a connection that the neighbour has opened. */
  accept(connection: Connection): ConnectionEvents {
    const target = this.session.accept(streamOf(connection), performance.now());
    return this.#eventsOf(() => target);
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const { session } = this;
    const isUp = session.state === 'established';
    return [
      {
        router: this.router.address,
        protocol: 'bgp',
        neighbour: this.peer,
        state: session.state,
        isUp,
        uptimeMs: isUp ? Math.round(now - session.establishedAt) : 0,
        flaps: session.counters.flaps,
        routesSent: isUp ? session.announcer.activeRoutes : 0,
        routesReceived: session.rib.count,
        databaseSize: 0,
        lastError: session.lastError,
      },
    ];
  }

  routes(limit: number): readonly RouteRow[] {
    const { session, router, peer } = this;
    return session.rib.tables.flatMap((table) =>
      table.list(0, limit).map(({ route, pathId, attributes, nextHop, isStale }) => ({
        router: router.address,
        neighbour: peer,
        protocol: 'bgp',
        family: table.family.name,
        route: pathId === 0 ? route : `${route} path ${pathId}`,
        isStale,
        ...describeAttributes(attributes, nextHop, session.negotiated?.fourByteAs ?? true),
      })),
    );
  }

  #change(isWithdrawn: boolean): void {
    this.session.change({ from: 0, to: 1, isWithdrawn });
    this.#correctMoves(isWithdrawn);
  }

  #correctMoves(isWithdrawn: boolean): void {
    for (const fabric of this.#fabrics) fabric.correct(this.session, isWithdrawn);
  }

  #onUp(): void {
    this.#correctMoves(false);
    this.#context.recordAdjacency(Math.round((performance.now() - this.#startedAt) * 1000));
    this.#context.event('bgp', this.router, `session with ${this.peer} established`);
  }

  #interrupt(now: number): void {
    if (this.#profile.capabilities.gracefulRestartSec > 0) this.session.restart(now);
    else this.session.stop(now);
  }

  #connect(attach: (stream: BgpStream) => BgpConnection): void {
    let target: BgpConnection | undefined;
    const route = { address: this.peer, port: bgpPort, localAddress: this.router.address };
    const connection = this.#context.transport.connect(
      route,
      this.#eventsOf(() => target),
    );
    target = attach(streamOf(connection));
  }

  #eventsOf(target: () => BgpConnection | undefined): ConnectionEvents {
    return {
      onOpen: (now) => target()?.opened(now),
      onData: ({ bytes, start, end, now }) => target()?.received(bytes.subarray(start, end), now),
      onSent: () => this.session.onRoom(),
      onClose: (code, now) => target()?.closed(now, code),
    };
  }
}

const streamOf = (connection: Connection): BgpStream => ({
  write: (bytes) => connection.write({ bytes, address: 0 }),
  close: () => connection.close(),
});
