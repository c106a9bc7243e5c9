import type { PlaneCommand } from '@rushhour/protocol';
import {
  bytesOfAddress,
  copyAddress,
  type PimNeighbour,
  PimRouter,
  parseAddress,
  pimProtocol,
  type ReceivedTree,
  textOfAddress,
} from '@rushhour/wire';
import { addressAfter } from '../routers/plan-routers.ts';
import type { PimProfile } from '../routers/profiles.ts';
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

/** Messages that wait for the MAC of their receiver. */
const maxWaiting = 1000;
const maxMessageBytes = 1400;
const bfdDown = 'is lost: BFD';

/** PIM of IPv6 runs between link-local addresses. */
export const isPimV6 = ({ joins }: PimProfile, address: string): boolean => (joins.groupStart ?? address).includes(':');

const optionsOf = ({ profile, ordinal }: InstanceOptions<PimProfile>, address: string) => {
  const { interface: own, rendezvous, joins, registers } = profile;
  const { address: point } = rendezvous;
  const { groupStart = address.includes(':') ? 'ff3e::8000:1' : '239.0.0.1', groupCount } = joins;
  return {
    address: bytesOfAddress(address),
    mode: own.mode,
    helloSec: own.helloSec,
    holdSec: own.holdSec,
    drPriority: own.drPriority,
    propagationMs: own.propagationDelayMs,
    overrideMs: own.overrideMs,
    sendsGenerationId: own.generationId,
    rendezvous: { ...rendezvous, address: point === undefined ? undefined : bytesOfAddress(point) },
    joins: {
      periodSec: joins.joinPruneSec,
      firstGroup: bytesOfAddress(addressAfter(groupStart, ordinal * groupCount)),
      groupCount,
      sources: joins.sources.map(bytesOfAddress),
    },
    registers: { perSec: registers.perSec, isNull: registers.nullRegister },
    maxBytes: maxMessageBytes,
    random: Math.random,
  };
};

/** A multicast router on its emulated host. */
export class PimInstance implements WatchedInstance {
  readonly protocol = 'pim';
  readonly router: Router;
  readonly address: string;
  readonly isWatched: boolean;
  readonly #pim: PimRouter;
  readonly #context: PlaneContext;
  readonly #host: number;
  readonly #key = new Int32Array(8);
  /** Trees that are joined. */
  readonly #trees: number;
  readonly #waiting: { readonly bytes: Uint8Array; readonly destination: Int32Array }[] = [];
  #startedAt = 0;

  constructor(options: InstanceOptions<PimProfile>, context: PlaneContext) {
    const { profile, router, host } = options;
    this.router = router;
    this.address = isPimV6(profile, router.address) ? (router.linkLocal ?? '') : router.address;
    this.isWatched = profile.interface.bfd;
    this.#trees = profile.joins.groupCount * Math.max(1, profile.joins.sources.length);
    this.#context = context;
    this.#host = host;
    copyAddress(parseAddress(this.address), 0, this.#key, 0);
    this.#pim = new PimRouter(optionsOf(options, this.address), {
      send: (bytes, destination) => this.#send(bytes, parseAddress(textOfAddress(destination))),
      onNeighbour: (neighbour, isUp, reason) => this.#onNeighbour(textOfAddress(neighbour), isUp, reason),
      onDesignated: (designated) =>
        context.event('pim', router, `${textOfAddress(designated)} is the designated router`),
    });
  }

  get counters(): InstanceCounters {
    const { tx, rx, flaps, joinsSent, joinsReceived } = this.#pim.counters;
    return { tx, rx, flaps, prefixesSent: joinsSent, prefixesReceived: joinsReceived };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#pim.start(now);
  }

  advance(now: number): void {
    if (this.#waiting.length > 0) this.#retry();
    this.#pim.advance(now);
  }

  stop(): void {
    this.#pim.stop();
  }

  receive(bytes: Uint8Array, source: Uint8Array, destination: Uint8Array): void {
    this.#pim.receive(bytes, source, { destination, now: performance.now() });
  }

  lose(address: string): void {
    this.#pim.dropNeighbour(bytesOfAddress(address), bfdDown);
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    const pim = this.#pim;
    if (action === 'start' || action === 'linkUp') pim.start(now);
    else if (action === 'stop') pim.stop();
    else if (action === 'linkDown') pim.drop();
    else if (action === 'restart' || action === 'disconnect') {
      pim.drop();
      pim.start(now);
    } else return `PIM routers cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const rows = [...this.#pim.neighbours.all.values()].map((one) => this.#rowOf(one, now));
    return rows.length > 0 ? rows : [this.#rowOf(undefined, now)];
  }

  /** The trees that neighbours have joined. */
  routes(limit: number): readonly RouteRow[] {
    return [...this.#pim.received.all].slice(0, Math.max(0, limit)).map(([key, tree]) => this.#routeOf(key, tree));
  }

  #routeOf(key: string, { group, source, neighbour }: ReceivedTree): RouteRow {
    const isShared = key.endsWith('*');
    const root = textOfAddress(source.address);
    return {
      router: this.router.address,
      neighbour: textOfAddress(neighbour),
      protocol: 'pim',
      family: group.length === 4 ? 'ipv4Multicast' : 'ipv6Multicast',
      route: `(${isShared ? '*' : root}, ${textOfAddress(group)})`,
      nextHop: '',
      detail: isShared ? `shared tree of ${root}` : 'tree of the source',
    };
  }

  #rowOf(neighbour: PimNeighbour | undefined, now: number): NeighbourRow {
    const { designated, counters, lastError } = this.#pim;
    const name = neighbour === undefined ? '' : textOfAddress(neighbour.address);
    const isUp = neighbour !== undefined;
    const upState = name === textOfAddress(designated) ? 'designated router' : 'up';
    return {
      router: this.router.address,
      protocol: 'pim',
      neighbour: name,
      state: isUp ? upState : 'down',
      isUp,
      uptimeMs: isUp ? Math.round(now - neighbour.since) : 0,
      flaps: counters.flaps,
      routesSent: isUp && this.#pim.upstream === neighbour ? this.#trees : 0,
      routesReceived: this.#pim.received.all.size,
      databaseSize: 0,
      lastError,
    };
  }

  #send(bytes: Uint8Array, destination: Int32Array): void {
    if (this.#waiting.length > 0 || !this.#transmit(bytes, destination)) {
      if (this.#waiting.length < maxWaiting) this.#waiting.push({ bytes, destination });
    }
    this.#context.layers.scheduleFlush();
  }

  #retry(): void {
    const waiting = this.#waiting.splice(0);
    for (const { bytes, destination } of waiting)
      if (!this.#transmit(bytes, destination)) this.#waiting.push({ bytes, destination });
    if (this.#waiting.length < waiting.length) this.#context.layers.scheduleFlush();
  }

  #transmit(bytes: Uint8Array, destination: Int32Array): boolean {
    copyAddress(destination, 0, this.#key, 4);
    return sendPacket(this.#context, { key: this.#key, host: this.#host, protocol: pimProtocol, bytes });
  }

  #onNeighbour(neighbour: string, isUp: boolean, reason: string): void {
    const now = performance.now();
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else this.#startedAt = now;
    this.#context.event('pim', this.router, `neighbour ${neighbour} ${isUp ? 'up' : 'down'}: ${reason}`);
  }
}
