import { createHash, createHmac } from 'node:crypto';
import type { PlaneCommand } from '@rushhour/protocol';
import {
  FlapSchedule,
  OspfArea,
  type OspfAuthentication,
  type OspfNeighbour,
  type OspfOptions,
  OspfRouter,
  ospfStateName,
  writeMapped,
} from '@rushhour/wire';
import { routerIdOf } from './bgp-options.ts';
import { ipv4Text, ipv4Word } from './ipv4-word.ts';
import type { OspfProfile } from './profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from './router.ts';

export const ospfProtocol = 89;
const maxWaiting = 10_000;
const md5Bytes = 16;
const sha256Bytes = 32;
/** RFC 5709: the constant that fills the place of the digest. */
const apad = Buffer.from('878fe1f3'.repeat(sha256Bytes / 4), 'hex');

const authenticationOf = ({ kind, keyId, key }: OspfProfile['authentication']): OspfAuthentication => {
  const bytes = Buffer.from(key);
  if (kind === 'none') return { kind };
  if (kind === 'simple') return { kind, key: bytes.subarray(0, 8) };
  if (kind === 'md5') {
    const padded = Buffer.alloc(md5Bytes);
    bytes.copy(padded, 0, 0, md5Bytes);
    const digest = (packet: Uint8Array) => createHash('md5').update(packet).update(padded).digest();
    return { kind: 'digest', keyId, length: md5Bytes, digest };
  }
  const secret = bytes.length > sha256Bytes ? createHash('sha256').update(bytes).digest() : bytes;
  const digest = (packet: Uint8Array) => createHmac('sha256', secret).update(packet).update(apad).digest();
  return { kind: 'digest', keyId, length: sha256Bytes, digest };
};

const optionsFor = (options: InstanceOptions<OspfProfile>, mask: number, mtu: number): OspfOptions => {
  const { profile, router, ordinal } = options;
  const { instance, interface: link, topology, externals } = profile;
  // Routers behind different emulated routers have different ids and prefixes.
  const step = topology.kind === 'none' ? 1 : topology.nodes + 1;
  const routerId = routerIdOf(
    instance.routerId,
    router.address,
    ordinal * (instance.routerId === undefined ? 0 : step),
  );
  const address = ipv4Word(router.address);
  const area = new OspfArea({
    routerId,
    address,
    areaKind: instance.areaKind,
    topology: { ...topology, random: Math.random, firstPrefix: topology.ipv4Start },
    externals: {
      count: externals.count,
      firstPrefix: externals.start,
      isType2: externals.metricKind === '2',
      metric: externals.metric,
    },
  });
  return {
    routerId,
    areaId: ipv4Word(instance.area),
    areaKind: instance.areaKind,
    address,
    mask,
    isBroadcast: link.network === 'broadcast',
    helloSec: link.helloSec,
    deadSec: link.deadSec,
    retransmitSec: link.retransmitSec,
    cost: link.cost,
    priority: link.priority,
    mtu,
    ignoresMtu: link.ignoreMtu,
    isOverloaded: instance.overload,
    authentication: authenticationOf(profile.authentication),
    area,
    changeSec: topology.changeSec,
    random: Math.random,
  };
};

/** An OSPF router on its emulated host. */
export class OspfInstance implements ProtocolInstance {
  readonly protocol = 'ospf';
  readonly router: Router;
  readonly #ospf: OspfRouter;
  readonly #context: PlaneContext;
  readonly #flaps: FlapSchedule;
  readonly #key = new Int32Array(8);
  readonly #host: number;
  readonly #waiting: { readonly bytes: Uint8Array; readonly destination: number }[] = [];
  #startedAt = 0;

  constructor(options: InstanceOptions<OspfProfile>, context: PlaneContext, mask: number) {
    const { profile, router, host } = options;
    const { network } = profile.interface;
    if (profile.instance.version !== 2) throw new RangeError('emulated routers cannot run OSPF version 3 yet');
    if (network !== 'broadcast' && network !== 'point-to-point')
      throw new RangeError(`OSPF cannot run on ${network} networks yet`);
    this.router = router;
    this.#context = context;
    this.#host = host;
    writeMapped(this.#key, 0, ipv4Word(router.address) | 0);
    const { intervalSec, downSec, count } = profile.flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
    this.#ospf = new OspfRouter(optionsFor(options, mask, context.layers.sink.mtu), {
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

  receive(bytes: Uint8Array, source: number): void {
    this.#ospf.receive(bytes, source, performance.now());
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
        family: `type ${header.type}`,
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
      neighbour: neighbour === undefined ? '' : ipv4Text(neighbour.address),
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
  #send(bytes: Uint8Array, destination: number): void {
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

  #transmit(bytes: Uint8Array, destination: number): boolean {
    const { output } = this.#context.layers.group;
    writeMapped(this.#key, 4, destination | 0);
    const at = output.begin(this.#key, 0, this.#host, ospfProtocol, bytes.length);
    if (at < 0) return false;
    output.memory.bytes.set(bytes, at);
    output.commit(at, bytes.length, 0);
    return true;
  }

  #onNeighbour(neighbour: OspfNeighbour, isUp: boolean, reason: string): void {
    const now = performance.now();
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else this.#startedAt = now;
    const text = `adjacency with ${ipv4Text(neighbour.address)} ${isUp ? 'full' : `down: ${reason}`}`;
    this.#context.event('ospf', this.router, text);
  }
}
