import type { PlaneCommand } from '@rushhour/protocol';
import {
  alertHeaderBytes,
  IgmpQuerier,
  igmpProtocol,
  type Membership,
  writeAlertHeader,
  writeMapped,
} from '@rushhour/wire';
import { ipv4Text, ipv4Word } from './ipv4-word.ts';
import type { IgmpQuerierProfile } from './profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from './router.ts';
import { sendPacket } from './send-packet.ts';

const ethernetBytes = 14;
const macBytes = 6;
const minFrameBytes = 60;
const ipv4Type = 0x0800;

const detailOf = ({ expiresAt, sources }: Membership, now: number): string => {
  const wanted = [...sources.keys()].map(ipv4Text).join(' ');
  return expiresAt > now ? 'all sources' : `sources ${wanted}`;
};

/** A querier of IGMP on its emulated host. */
export class IgmpQuerierInstance implements ProtocolInstance {
  readonly protocol = 'igmp-querier';
  readonly router: Router;
  readonly #igmp: IgmpQuerier;
  readonly #context: PlaneContext;
  readonly #host: number;
  readonly #address: number;
  readonly #hasAlert: boolean;
  readonly #key = new Int32Array(8);

  constructor({ profile, router, host }: InstanceOptions<IgmpQuerierProfile>, context: PlaneContext) {
    if (router.address.includes(':')) throw new RangeError(`IGMP of ${router.address} needs an IPv4 address`);
    const { routerAlert, yieldToLower, ...querier } = profile.querier;
    this.router = router;
    this.#context = context;
    this.#host = host;
    this.#address = ipv4Word(router.address);
    this.#hasAlert = routerAlert;
    writeMapped(this.#key, 0, this.#address | 0);
    this.#igmp = new IgmpQuerier(
      { ...querier, address: this.#address, yieldsToLower: yieldToLower },
      {
        send: (bytes, destination) => this.#send(bytes, destination),
        onQuerier: (address) => context.event('igmp-querier', router, `${ipv4Text(address)} is the querier`),
      },
    );
  }

  get counters(): InstanceCounters {
    const { tx, rx, joins } = this.#igmp.counters;
    return { tx, rx, flaps: 0, prefixesSent: 0, prefixesReceived: joins };
  }

  start(now: number): void {
    this.#igmp.start(now);
  }

  advance(now: number): void {
    this.#igmp.advance(now);
  }

  stop(): void {
    this.#igmp.stop();
  }

  receive(bytes: Uint8Array, source: number): void {
    this.#igmp.receive(bytes, source, performance.now());
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    if (action === 'start' || action === 'linkUp') this.#igmp.start(now);
    else if (action === 'stop' || action === 'linkDown') this.#igmp.stop();
    else if (action === 'restart' || action === 'disconnect') {
      this.#igmp.stop();
      this.#igmp.start(now);
    } else return `queriers cannot do ${action}`;
    return undefined;
  }

  /** One row: who asks. */
  neighbours(now: number): readonly NeighbourRow[] {
    const { querier, isRunning, groups, lastError, startedAt } = this.#igmp;
    const isOwn = querier === this.#address;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: 'hosts',
        state: !isRunning ? 'down' : isOwn ? 'querier' : `silent, ${ipv4Text(querier)} asks`,
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
    return [...this.#igmp.groups.values()].slice(0, Math.max(0, limit)).map((membership) => ({
      router: this.router.address,
      neighbour: ipv4Text(membership.reporter),
      protocol: this.protocol,
      family: 'ipv4Multicast',
      route: ipv4Text(membership.group),
      nextHop: '',
      detail: detailOf(membership, now),
    }));
  }

  #send(bytes: Uint8Array, destination: number): void {
    if (this.#hasAlert) this.#sendAlert(bytes, destination);
    else {
      writeMapped(this.#key, 4, destination | 0);
      if (!sendPacket(this.#context, { key: this.#key, host: this.#host, protocol: igmpProtocol, bytes })) return;
    }
    this.#context.layers.scheduleFlush();
  }

  /** A frame whose IP header has the option that makes routers look at it. */
  #sendAlert(message: Uint8Array, destination: number): void {
    const { sink, writeMac } = this.#context.layers;
    const length = Math.max(minFrameBytes, ethernetBytes + alertHeaderBytes + message.length);
    const at = sink.begin(length, this.#host);
    if (at < 0) return;
    const { bytes, view } = sink.memory;
    const ip = at + ethernetBytes;
    bytes.fill(0, at, at + length);
    view.setUint16(at, 0x0100);
    view.setUint32(at + 2, 0x5e000000 | (destination & 0x7fffff));
    writeMac(this.#host, bytes, at + macBytes);
    view.setUint16(at + 2 * macBytes, ipv4Type);
    bytes.set(message, ip + alertHeaderBytes);
    const ends = { source: this.#address, destination };
    writeAlertHeader(sink.memory, ip, ip + alertHeaderBytes + message.length, ends);
    sink.commit(at, length);
  }
}
