import { createHash } from 'node:crypto';
import type { PlaneCommand } from '@rushhour/protocol';
import {
  copyAddress,
  formatAddress,
  PrefixSequence,
  parseAddress,
  type RipAuthentication,
  RipRouter,
  ripFormat,
  ripGroups,
  ripngFormat,
  ripngPort,
  ripPort,
} from '@rushhour/wire';
import type { RipProfile } from '../routers/profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from '../routers/router.ts';

const keyBytes = 16;
const linkLocalBits = 64;

const authenticationOf = ({ kind, keyId, key }: RipProfile['authentication']): RipAuthentication => {
  const padded = Buffer.alloc(keyBytes);
  Buffer.from(key).copy(padded, 0, 0, keyBytes);
  if (kind === 'none') return { kind };
  if (kind === 'simple') return { kind, key: padded };
  return {
    kind: 'digest',
    keyId,
    digest: (packet) => createHash('md5').update(packet).update(padded).digest(),
  };
};

/** What differs between the versions; RIPng runs between link-local addresses. */
const linkOf = ({ profile, router }: InstanceOptions<RipProfile>, mtu: number) => {
  const { version, send } = profile.instance;
  if (version === 'ng') {
    return {
      address: parseAddress(router.linkLocal as string),
      networkLength: linkLocalBits,
      group: ripGroups.nextGeneration,
      format: ripngFormat(mtu),
    };
  }
  if (router.address.includes(':')) throw new RangeError(`RIP of ${router.address} needs an IPv4 address`);
  const networkLength = Math.clz32(~router.mask);
  return {
    address: parseAddress(router.address),
    networkLength,
    group: version === '1' || send === 'broadcast' ? ripGroups.broadcast : ripGroups.multicast,
    format: ripFormat(version === '1' ? 1 : 2, authenticationOf(profile.authentication), networkLength),
  };
};

/** A RIP router on its emulated host. */
export class RipInstance implements ProtocolInstance {
  readonly protocol = 'rip';
  readonly router: Router;
  /** UDP port, and the address it is heard at. */
  readonly port: number;
  readonly address: string;
  readonly #family: string;
  readonly #rip: RipRouter;
  readonly #context: PlaneContext;
  readonly #host: number;
  readonly #key = new Int32Array(9);
  #startedAt = 0;

  constructor(options: InstanceOptions<RipProfile>, context: PlaneContext) {
    const { profile, router, host, ordinal } = options;
    const { instance, routes } = profile;
    const isNg = instance.version === 'ng';
    const link = linkOf(options, context.layers.sink.mtu);
    const [count, start] = isNg ? [routes.ipv6Count, routes.ipv6Start] : [routes.ipv4Count, routes.ipv4Start];
    this.router = router;
    this.port = isNg ? ripngPort : ripPort;
    this.address = formatAddress(link.address);
    this.#family = isNg ? 'ipv6Unicast' : 'ipv4Unicast';
    this.#context = context;
    this.#host = host;
    copyAddress(link.address, 0, this.#key, 0);
    this.#key[8] = (this.port << 16) | this.port;
    this.#rip = new RipRouter(
      {
        ...link,
        isUnicast: instance.send === 'unicast',
        updateMs: instance.updateSec * 1000,
        timeoutMs: instance.timeoutSec * 1000,
        garbageMs: instance.garbageSec * 1000,
        splitHorizon: instance.splitHorizon,
        routes: {
          count,
          prefixes: new PrefixSequence(start),
          offset: ordinal * count,
          metric: routes.metric,
          tag: routes.tag,
        },
        random: Math.random,
      },
      {
        send: (bytes, destination) => this.#send(bytes, destination),
        onNeighbour: (address, isUp, reason) => this.#onNeighbour(address, isUp, reason),
      },
    );
  }

  get counters(): InstanceCounters {
    return this.#rip.counters;
  }

  start(now: number): void {
    this.#startedAt = now;
    this.#rip.start(now);
  }

  advance(now: number): void {
    this.#rip.advance(now);
  }

  stop(now: number): void {
    this.#rip.stop(now);
  }

  receive(bytes: Uint8Array, source: Int32Array): void {
    this.#rip.receive(bytes, source, performance.now());
  }

  command({ action }: PlaneCommand, now: number): string | undefined {
    const rip = this.#rip;
    if (action === 'start' || action === 'linkUp') rip.start(now);
    else if (action === 'stop') rip.stop(now);
    else if (action === 'linkDown') rip.interrupt();
    else if (action === 'announce') rip.announce(now);
    else if (action === 'withdraw') rip.withdraw(now);
    else if (action === 'restart' || action === 'disconnect') {
      rip.interrupt();
      rip.start(now);
    } else return `RIP routers cannot do ${action}`;
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const { neighbours, routes, counters, lastError } = this.#rip;
    const rowOf = (neighbour: string, upAt: number | undefined): NeighbourRow => ({
      router: this.router.address,
      protocol: 'rip',
      neighbour,
      state: upAt === undefined ? 'down' : 'up',
      isUp: upAt !== undefined,
      uptimeMs: upAt === undefined ? 0 : Math.round(now - upAt),
      flaps: counters.flaps,
      routesSent: counters.prefixesSent,
      routesReceived: routes.size,
      databaseSize: 0,
      lastError,
    });
    const rows = [...neighbours.values()].map(({ address, upAt }) => rowOf(formatAddress(address), upAt));
    return rows.length > 0 ? rows : [rowOf('', undefined)];
  }

  routes(limit: number): readonly RouteRow[] {
    const all = [...this.#rip.routes].slice(0, Math.max(0, limit));
    return all.map(([route, { metric, tag, from, nextHop = from }]) => ({
      router: this.router.address,
      neighbour: formatAddress(from),
      protocol: 'rip',
      family: this.#family,
      route,
      nextHop: formatAddress(nextHop),
      detail: `metric ${metric}, tag ${tag}`,
    }));
  }

  #send(bytes: Uint8Array, destination: Int32Array): void {
    const { group, scheduleFlush } = this.#context.layers;
    copyAddress(destination, 0, this.#key, 4);
    group.udp.send(this.#key, this.#host, bytes);
    scheduleFlush();
  }

  #onNeighbour(address: Int32Array, isUp: boolean, reason: string): void {
    if (isUp) this.#context.recordAdjacency(Math.round((performance.now() - this.#startedAt) * 1000));
    this.#context.event('rip', this.router, `neighbour ${formatAddress(address)} ${isUp ? 'up' : `down: ${reason}`}`);
  }
}
