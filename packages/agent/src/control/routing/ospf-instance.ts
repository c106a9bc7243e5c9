import type { PlaneCommand } from '@rushhour/protocol';
import {
  copyAddress,
  FlapSchedule,
  formatAddress,
  type OspfNeighbour,
  OspfRouter,
  ospfProtocol,
  ospfStateName,
  type PacketEnds,
  parseAddress,
} from '@rushhour/wire';
import { ipv4Text } from '../routers/ipv4-word.ts';
import type { OspfProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  RouteRow,
  Router,
  WatchedInstance,
} from '../routers/router.ts';
import { sendPacket } from '../routers/send-packet.ts';
import { ospfOptionsOf } from './ospf-options.ts';

const bfdDown = 'BFD session down';
const maxWaiting = 10_000;
/** An OSPF router on its emulated host. */
export class OspfInstance implements WatchedInstance {
  readonly protocol = 'ospf';
  readonly router: Router;
  readonly isWatched: boolean;
  /** Where packets for this router alone go. */
  readonly address: string;
  readonly #ospf: OspfRouter;
  readonly #context: PlaneContext;
  readonly #flaps: FlapSchedule;
  readonly #key = new Int32Array(8);
  readonly #host: number;
  readonly #waiting: { readonly bytes: Uint8Array; readonly destination: Int32Array }[] = [];
  #startedAt = 0;

  constructor(options: InstanceOptions<OspfProfile>, context: PlaneContext) {
    const { profile, router, host } = options;
    this.router = router;
    this.isWatched = profile.interface.bfd;
    this.#context = context;
    this.#host = host;
    this.address = (profile.instance.version === 3 ? router.linkLocal : undefined) ?? router.address;
    copyAddress(parseAddress(this.address), 0, this.#key, 0);
    const { intervalSec, downSec, count } = profile.flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
    this.#ospf = new OspfRouter(ospfOptionsOf(options, context.layers.sink.mtu), {
      send: (bytes, destination) => this.#send(bytes, destination),
      onNeighbour: (neighbour, isUp, reason) => this.#onNeighbour(neighbour, isUp, reason),
    });
  }

  get counters(): InstanceCounters {
    const { tx, rx, flaps } = this.#ospf.counters;
    return { tx, rx, flaps, prefixesSent: 0, prefixesReceived: 0 };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#flaps.start(now);
    this.#ospf.start(now);
  }

  advance(now: number): void {
    const change = this.#flaps.advance(now);
    if (change === 'up') this.#ospf.start(now);
    else if (change === 'down') this.#ospf.interrupt(now);
    if (this.#waiting.length > 0) this.#retry();
    this.#ospf.advance(now);
  }

  stop(now: number): void {
    this.#ospf.stop(now);
  }

  receive(bytes: Uint8Array, ends: PacketEnds): void {
    this.#ospf.receive(bytes, ends, performance.now());
  }

  lose(address: string, now: number): void {
    this.#ospf.disconnect(parseAddress(address), bfdDown, now);
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    const ospf = this.#ospf;
    if (action === 'start' || action === 'linkUp' || action === 'announce') ospf.start(now);
    else if (action === 'stop' || action === 'withdraw') ospf.stop(now);
    else if (action === 'linkDown') ospf.interrupt(now);
    else if (action === 'restart' || action === 'disconnect') {
      ospf.interrupt(now);
      ospf.start(now);
    } else return `OSPF routers cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const rows = [...this.#ospf.neighbours.values()].map((one) => this.#rowOf(one, now));
    return rows.length > 0 ? rows : [this.#rowOf(undefined, now)];
  }

  /** The entries of the link-state database. */
  routes(limit: number): readonly RouteRow[] {
    const rows: RouteRow[] = [];
    for (const { header } of this.#ospf.lsdb.values()) {
      if (rows.length >= limit) break;
      rows.push({
        router: this.router.address,
        neighbour: ipv4Text(header.router),
        protocol: 'ospf',
        family: `type ${header.type > 255 ? `0x${header.type.toString(16)}` : header.type}`,
        route: ipv4Text(header.id),
        nextHop: '',
        detail: `sequence ${(header.sequence >>> 0).toString(16)}, ${header.length} bytes`,
      });
    }
    return rows;
  }

  #rowOf(neighbour: OspfNeighbour | undefined, now: number): NeighbourRow {
    const state = neighbour === undefined ? 'down' : ospfStateName(neighbour.state);
    const isUp = state === 'full';
    return {
      router: this.router.address,
      protocol: 'ospf',
      neighbour: neighbour === undefined ? '' : formatAddress(neighbour.address),
      state,
      isUp,
      uptimeMs: isUp ? Math.round(now - (neighbour?.upAt ?? now)) : 0,
      flaps: this.#ospf.counters.flaps,
      routesSent: 0,
      routesReceived: 0,
      databaseSize: this.#ospf.lsdb.size,
      lastError: this.#ospf.lastError,
    };
  }

  /** Packets wait, a limited number, until the MAC of the neighbour is known or the interface has room. */
  #send(bytes: Uint8Array, destination: Int32Array): void {
    if (this.#waiting.length > 0 || !this.#transmit(bytes, destination)) {
      if (this.#waiting.length < maxWaiting) this.#waiting.push({ bytes, destination });
    }
    this.#context.layers.scheduleFlush();
  }

  #retry(): void {
    let sent = 0;
    for (const { bytes, destination } of this.#waiting) {
      if (!this.#transmit(bytes, destination)) break;
      sent++;
    }
    if (sent === 0) return;
    this.#waiting.splice(0, sent);
    this.#context.layers.scheduleFlush();
  }

  #transmit(bytes: Uint8Array, destination: Int32Array): boolean {
    copyAddress(destination, 0, this.#key, 4);
    return sendPacket(this.#context, { key: this.#key, host: this.#host, protocol: ospfProtocol, bytes });
  }

  #onNeighbour(neighbour: OspfNeighbour, isUp: boolean, reason: string): void {
    const now = performance.now();
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else this.#startedAt = now;
    const text = `adjacency with ${formatAddress(neighbour.address)} ${isUp ? 'full' : `down: ${reason}`}`;
    this.#context.event('ospf', this.router, text);
  }
}
