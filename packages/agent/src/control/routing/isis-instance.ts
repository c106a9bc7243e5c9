import { createHmac } from 'node:crypto';
import type { PlaneCommand } from '@rushhour/protocol';
import {
  FlapSchedule,
  type IsisAdjacency,
  type IsisAuthentication,
  IsisNetwork,
  type IsisOptions,
  IsisRouter,
  isisHex,
  isisIdText,
  type Level,
  parseAddress,
  systemIdAfter,
} from '@rushhour/wire';
import type { IsisProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  RouteRow,
  Router,
  WatchedInstance,
} from '../routers/router.ts';
import { routerIdOf } from './bgp-options.ts';

const llc = Uint8Array.of(0xfe, 0xfe, 0x03);
const macBytes = 6;
const headerBytes = 14;
const minFrameBytes = 60;
const maxWaiting = 10_000;
/** Destinations by level, and that of point-to-point links (RFC 5309). */
const groups = {
  1: Uint8Array.of(0x01, 0x80, 0xc2, 0, 0, 0x14),
  2: Uint8Array.of(0x01, 0x80, 0xc2, 0, 0, 0x15),
  all: Uint8Array.of(0x09, 0, 0x2b, 0, 0, 0x05),
} as const;
const levelsOf = { '1': [1], '2': [2], '1-2': [1, 2] } as const satisfies Record<string, readonly Level[]>;
const stateNames = ['up', 'initializing', 'down'] as const;
const md5 = { kind: 54, length: 16 } as const;
const generic = { kind: 3, length: 32 } as const;
/** RFC 5310: the constant that fills the place of the digest. */
const apad = Buffer.from('878fe1f3'.repeat(generic.length / 4), 'hex');

/** The PDU of an IS-IS frame, or undefined. */
export const isisPdu = (frame: Uint8Array): Uint8Array | undefined => {
  const length = ((frame[12] ?? 255) << 8) | (frame[13] ?? 255);
  const end = headerBytes + length;
  if (length > 1500 && length < 0x8870) return undefined;
  if (llc.some((byte, i) => frame[headerBytes + i] !== byte)) return undefined;
  return frame.subarray(headerBytes + llc.length, Math.min(end, frame.length));
};

const authenticationOf = ({ kind, keyId, key }: IsisProfile['authentication']): IsisAuthentication => {
  const secret = Buffer.from(key);
  if (kind === 'none') return { kind };
  if (kind === 'simple') return { kind, key: secret };
  const digestWith = (algorithm: string) => (pdu: Uint8Array) => createHmac(algorithm, secret).update(pdu).digest();
  if (kind === 'md5') {
    const { length } = md5;
    return {
      kind: 'digest',
      prefix: Uint8Array.of(md5.kind),
      length,
      filler: Buffer.alloc(length),
      digest: digestWith('md5'),
    };
  }
  const prefix = Uint8Array.of(generic.kind, keyId >> 8, keyId & 255);
  return { kind: 'digest', prefix, length: generic.length, filler: apad, digest: digestWith('sha256') };
};

const word = (address: string): number => (parseAddress(address)[3] as number) >>> 0;

const networkOf = ({ profile, router, ordinal }: InstanceOptions<IsisProfile>, areas: readonly Uint8Array[]) => {
  const { instance, topology, segmentRouting } = profile;
  const { blockStart, blockSize, nodeIndexStart } = segmentRouting;
  // Systems behind different emulated routers have different ids, names and prefixes.
  const step = topology.kind === 'none' ? 1 : topology.nodes + 1;
  const systemId = systemIdAfter(instance.systemIdStart.replaceAll('.', ''), ordinal * step);
  const first = ordinal * (instance.routerId === undefined ? 0 : step);
  const network = new IsisNetwork({
    systemId,
    areas,
    routerId: routerIdOf(instance.routerId, router.address, first),
    hasIpv4: instance.protocols.includes('ipv4'),
    hasIpv6: instance.protocols.includes('ipv6'),
    isMultiTopology: instance.multiTopology,
    segments: segmentRouting.enabled
      ? { blockStart, blockSize, firstIndex: nodeIndexStart + ordinal * step }
      : undefined,
    hostNameOf: (n) => instance.hostName.replaceAll('{n}', String(ordinal * step + n + 1)),
    firstPrefix: ordinal * (step - 1) * topology.prefixesPerNode,
    topology: { ...topology, random: Math.random },
  });
  return { network, systemId };
};

const optionsFor = (options: InstanceOptions<IsisProfile>, mac: Uint8Array, mtu: number): IsisOptions => {
  const { profile, router } = options;
  const { instance, interface: link, topology } = profile;
  const areas = instance.areas.map((area) => Buffer.from(area.replaceAll('.', ''), 'hex'));
  return {
    ...networkOf(options, areas),
    levels: levelsOf[instance.level],
    areas,
    address: router.mask === 0 ? 0 : word(router.address),
    prefixBits: 32 - Math.clz32(~router.mask) === 0 ? 32 : Math.clz32(~router.mask),
    mac: isisHex(mac),
    hasIpv4: instance.protocols.includes('ipv4'),
    hasIpv6: instance.protocols.includes('ipv6'),
    isMultiTopology: instance.multiTopology,
    linkLocal: router.linkLocal === undefined ? undefined : parseAddress(router.linkLocal),
    isBroadcast: link.network === 'broadcast',
    helloSec: link.helloSec,
    holdMultiplier: link.holdMultiplier,
    metric: link.metric,
    priority: link.priority,
    pads: link.padding,
    csnpSec: link.csnpSec,
    mtu,
    isOverloaded: instance.overload,
    lifetimeSec: instance.lspLifetimeSec,
    refreshSec: Math.min(instance.lspRefreshSec, instance.lspLifetimeSec - 300),
    authentication: authenticationOf(profile.authentication),
    changeSec: topology.changeSec,
    random: Math.random,
  };
};

/** An IS-IS router on its emulated host. */
export class IsisInstance implements WatchedInstance {
  readonly protocol = 'isis';
  readonly router: Router;
  readonly isWatched: boolean;
  readonly #isis: IsisRouter;
  readonly #context: PlaneContext;
  readonly #flaps: FlapSchedule;
  readonly #host: number;
  readonly #mac = new Uint8Array(macBytes);
  readonly #levels: readonly Level[];
  readonly #waiting: { readonly pdu: Uint8Array; readonly to: Level | 'all' }[] = [];
  #startedAt = 0;

  constructor(options: InstanceOptions<IsisProfile>, context: PlaneContext) {
    const { profile, router, host } = options;
    this.router = router;
    this.isWatched = profile.interface.bfd;
    this.#context = context;
    this.#host = host;
    this.#levels = levelsOf[profile.instance.level];
    context.layers.writeMac(host, this.#mac, 0);
    const { intervalSec, downSec, count } = profile.flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
    this.#isis = new IsisRouter(optionsFor(options, this.#mac, context.layers.sink.mtu), {
      send: (pdu, to) => this.#send(pdu, to),
      onAdjacency: (adjacency, isUp, reason) => this.#onAdjacency(adjacency, isUp, reason),
    });
  }

  get counters(): InstanceCounters {
    const { tx, rx, flaps } = this.#isis.counters;
    return { tx, rx, flaps, prefixesSent: 0, prefixesReceived: 0 };
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#flaps.start(now);
    this.#isis.start(now);
  }

  advance(now: number): void {
    const change = this.#flaps.advance(now);
    if (change === 'up') this.#isis.start(now);
    else if (change === 'down') this.#isis.interrupt(now);
    this.#retry();
    this.#isis.advance(now);
  }

  stop(now: number): void {
    this.#isis.stop(now);
  }

  receive(pdu: Uint8Array, source: string): void {
    this.#isis.receive(pdu, source, performance.now());
  }

  lose(address: string, now: number): void {
    this.#isis.disconnect(word(address), 'BFD session down', now);
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    const isis = this.#isis;
    if (action === 'start' || action === 'linkUp' || action === 'announce') isis.start(now);
    else if (action === 'stop' || action === 'withdraw') isis.stop(now);
    else if (action === 'linkDown') isis.interrupt(now);
    else if (action === 'restart' || action === 'disconnect') {
      isis.interrupt(now);
      isis.start(now);
    } else return `IS-IS routers cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const rows = [...this.#isis.adjacencies.values()].map((one) => this.#rowOf(one, now));
    return rows.length > 0 ? rows : [this.#rowOf(undefined, now)];
  }

  /** The LSPs of all levels. */
  routes(limit: number): readonly RouteRow[] {
    const rows = this.#levels.flatMap((level) =>
      [...(this.#isis.databaseOf(level)?.lsps.values() ?? [])].slice(0, limit).map(({ id, sequence, bytes }) => ({
        router: this.router.address,
        neighbour: isisIdText(id.slice(0, 12)),
        protocol: 'isis',
        family: `level ${level}`,
        route: isisIdText(id),
        nextHop: '',
        detail: `sequence ${sequence}, ${bytes.length} bytes`,
      })),
    );
    return rows.slice(0, limit);
  }

  #rowOf(adjacency: IsisAdjacency | undefined, now: number): NeighbourRow {
    const state = stateNames[adjacency?.state ?? 2];
    const isUp = state === 'up';
    return {
      router: this.router.address,
      protocol: 'isis',
      neighbour: adjacency === undefined ? '' : isisIdText(adjacency.systemId),
      state,
      isUp,
      uptimeMs: isUp ? Math.round(now - (adjacency?.upAt ?? now)) : 0,
      flaps: this.#isis.counters.flaps,
      routesSent: 0,
      routesReceived: 0,
      databaseSize: this.#isis.databaseSize,
      lastError: this.#isis.lastError,
    };
  }

  /** PDUs wait, a limited number, while the interface has no room. */
  #send(pdu: Uint8Array, to: Level | 'all'): void {
    if (this.#waiting.length > 0 || !this.#transmit(pdu, to)) {
      if (this.#waiting.length < maxWaiting) this.#waiting.push({ pdu, to });
    }
    this.#context.layers.scheduleFlush();
  }

  #retry(): void {
    let sent = 0;
    for (const { pdu, to } of this.#waiting) {
      if (!this.#transmit(pdu, to)) break;
      sent++;
    }
    if (sent === 0) return;
    this.#waiting.splice(0, sent);
    this.#context.layers.scheduleFlush();
  }

  #transmit(pdu: Uint8Array, to: Level | 'all'): boolean {
    const { sink } = this.#context.layers;
    const length = Math.max(minFrameBytes, headerBytes + llc.length + pdu.length);
    const at = sink.begin(length, this.#host);
    if (at < 0) return false;
    const { bytes, view } = sink.memory;
    bytes.fill(0, at, at + length);
    bytes.set(groups[to], at);
    bytes.set(this.#mac, at + macBytes);
    view.setUint16(at + 2 * macBytes, llc.length + pdu.length);
    bytes.set(llc, at + headerBytes);
    bytes.set(pdu, at + headerBytes + llc.length);
    sink.commit(at, length);
    return true;
  }

  #onAdjacency(adjacency: IsisAdjacency, isUp: boolean, reason: string): void {
    const now = performance.now();
    if (isUp) this.#context.recordAdjacency(Math.round((now - this.#startedAt) * 1000));
    else this.#startedAt = now;
    const text = `adjacency with ${isisIdText(adjacency.systemId)} ${isUp ? 'up' : `down: ${reason}`}`;
    this.#context.event('isis', this.router, text);
  }
}
