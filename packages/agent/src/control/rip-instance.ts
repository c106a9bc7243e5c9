import { createHash } from 'node:crypto';
import type { PlaneCommand } from '@rushhour/protocol';
import { type RipAuthentication, RipRouter, ripPort, writeMapped } from '@rushhour/wire';
import { ipv4Text, ipv4Word } from './ipv4-word.ts';
import type { RipProfile } from './profiles.ts';
import type {
  InstanceCounters,
  InstanceOptions,
  NeighbourRow,
  PlaneContext,
  ProtocolInstance,
  RouteRow,
  Router,
} from './router.ts';

const keyBytes = 16;

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

const prefixText = (address: number, mask: number): string => {
  const length = mask === 0 ? 0 : Math.clz32(~mask >>> 0);
  return `${ipv4Text(address)}/${mask === 0xffffffff ? 32 : length}`;
};

/** A RIP router on its emulated host. */
export class RipInstance implements ProtocolInstance {
  readonly protocol = 'rip';
  readonly router: Router;
  readonly #rip: RipRouter;
  readonly #context: PlaneContext;
  readonly #host: number;
  readonly #key = new Int32Array(9);
  #startedAt = 0;

  constructor({ profile, router, host, ordinal }: InstanceOptions<RipProfile>, context: PlaneContext) {
    const { instance, routes, authentication } = profile;
    if (instance.version === 'ng') throw new RangeError('emulated routers cannot run RIPng yet');
    if (router.address.includes(':')) throw new RangeError(`RIP of ${router.address} needs an IPv4 address`);
    if (instance.version === '1' && (authentication.kind !== 'none' || routes.tag !== 0))
      throw new RangeError('RIP version 1 has neither authentication nor tags');
    this.router = router;
    this.#context = context;
    this.#host = host;
    const [first = '', length = ''] = routes.ipv4Start.split('/');
    writeMapped(this.#key, 0, ipv4Word(router.address) | 0);
    this.#key[8] = (ripPort << 16) | ripPort;
    this.#rip = new RipRouter(
      {
        version: instance.version === '1' ? 1 : 2,
        address: ipv4Word(router.address),
        mask: router.mask,
        updateMs: instance.updateSec * 1000,
        timeoutMs: instance.timeoutSec * 1000,
        garbageMs: instance.garbageSec * 1000,
        send: instance.send,
        splitHorizon: instance.splitHorizon,
        routes: {
          count: routes.ipv4Count,
          first: (ipv4Word(first) + ordinal * routes.ipv4Count * 2 ** (32 - Number(length))) >>> 0,
          length: Number(length),
          metric: routes.metric,
          tag: routes.tag,
        },
        authentication: authenticationOf(authentication),
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

  receive(bytes: Uint8Array, source: number): void {
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
    const rows = [...neighbours.values()].map(({ address, upAt }) => rowOf(ipv4Text(address), upAt));
    return rows.length > 0 ? rows : [rowOf('', undefined)];
  }

  routes(limit: number): readonly RouteRow[] {
    const all = [...this.#rip.routes.values()].slice(0, Math.max(0, limit));
    return all.map(({ address, mask, metric, tag, nextHop, from }) => ({
      router: this.router.address,
      neighbour: ipv4Text(from),
      protocol: 'rip',
      family: 'ipv4Unicast',
      route: prefixText(address, mask),
      nextHop: ipv4Text(nextHop === 0 ? from : nextHop),
      detail: `metric ${metric}, tag ${tag}`,
    }));
  }

  #send(bytes: Uint8Array, destination: number): void {
    const { group, scheduleFlush } = this.#context.layers;
    writeMapped(this.#key, 4, destination | 0);
    group.udp.send(this.#key, this.#host, bytes);
    scheduleFlush();
  }

  #onNeighbour(address: number, isUp: boolean, reason: string): void {
    if (isUp) this.#context.recordAdjacency(Math.round((performance.now() - this.#startedAt) * 1000));
    this.#context.event('rip', this.router, `neighbour ${ipv4Text(address)} ${isUp ? 'up' : `down: ${reason}`}`);
  }
}
