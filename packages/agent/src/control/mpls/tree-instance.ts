import type { PlaneCommand } from '@rushhour/protocol';
import { FlapSchedule, type TreeName, TreeService } from '@rushhour/wire';
import { ipv4Text, ipv4Word } from '../routers/ipv4-word.ts';
import type { MldpProfile } from '../routers/profiles.ts';
import type { InstanceCounters, NeighbourRow, ProtocolInstance, RouteRow, Router } from '../routers/router.ts';

const firstNameOf = ({ tree, service }: MldpProfile): TreeName =>
  service.inBand
    ? { kind: 'stream', source: ipv4Word(service.source), group: ipv4Word(service.groupStart) }
    : { kind: 'id', id: tree.opaqueStart };

const titleOf = (name: TreeName): string =>
  name.kind === 'id' ? `id ${name.id}` : `${ipv4Text(name.source)} ${ipv4Text(name.group)}`;

/** Multicast trees over the LDP sessions of the same router. */
export class TreeInstance implements ProtocolInstance {
  readonly protocol = 'mldp';
  readonly router: Router;
  readonly service: TreeService;
  readonly #profile: MldpProfile;
  readonly #flaps: FlapSchedule;
  /** The tree whose branch is cut next. */
  #cut = 0;
  #upAt: number | undefined;

  constructor(profile: MldpProfile, router: Router) {
    const { tree, resilience, flaps } = profile;
    this.router = router;
    this.#profile = profile;
    this.#flaps = new FlapSchedule({
      intervalMs: flaps.intervalSec * 1000,
      downMs: flaps.downSec * 1000,
      count: flaps.count,
    });
    this.service = new TreeService({
      role: tree.role,
      isMutual: tree.kind === 'multipoint-to-multipoint',
      root: ipv4Word(tree.root),
      count: tree.count,
      first: firstNameOf(profile),
      firstLabel: tree.labelStart,
      keepMs: resilience.makeBeforeBreakMs,
    });
  }

  get counters(): InstanceCounters {
    const { sent, received, flaps } = this.service.counters;
    return { tx: 0, rx: 0, flaps, prefixesSent: sent, prefixesReceived: received };
  }

  start(now: number): void {
    this.#flaps.start(now);
  }

  advance(now: number): void {
    this.service.advance(now);
    const change = this.#flaps.advance(now);
    if (change === undefined) return;
    this.service.setDown(this.#cut, change === 'down');
    if (change === 'up') this.#cut = (this.#cut + 1) % this.#profile.tree.count;
  }

  stop(): void {
    this.#setAll(true);
  }

  command({ action }: PlaneCommand): string | undefined {
    if (action === 'announce' || action === 'start' || action === 'linkUp' || action === 'join') this.#setAll(false);
    else if (action === 'withdraw' || action === 'stop' || action === 'linkDown' || action === 'leave')
      this.#setAll(true);
    else return `multicast trees cannot do ${action}`;
    return undefined;
  }

  /** One row: the neighbour towards the root. */
  neighbours(now: number): readonly NeighbourRow[] {
    const { service } = this;
    const { count, role } = this.#profile.tree;
    const joined = Array.from({ length: count }, (_, tree) => service.isJoined(tree)).filter(Boolean).length;
    const used = service.below.filter((below) => below.size > 0).length;
    const whole = role === 'leaf' ? joined : used;
    this.#upAt = whole > 0 ? (this.#upAt ?? now) : undefined;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: service.upstream?.transport ?? '',
        state: whole === count ? 'up' : whole > 0 ? 'partly up' : 'down',
        isUp: whole > 0,
        uptimeMs: Math.round(now - (this.#upAt ?? now)),
        flaps: service.counters.flaps,
        routesSent: joined,
        routesReceived: used,
        databaseSize: 0,
        lastError: '',
      },
    ];
  }

  /** The trees with their labels. */
  routes(limit: number): readonly RouteRow[] {
    const { service } = this;
    const { count, root } = this.#profile.tree;
    const upstream = service.upstream?.transport ?? '';
    return Array.from({ length: Math.max(0, Math.min(limit, count)) }, (_, tree) => ({
      router: this.router.address,
      neighbour: upstream,
      protocol: this.protocol,
      family: 'tree',
      route: `${root} ${titleOf(service.nameOf(tree))}`,
      nextHop: upstream,
      detail: this.#detailOf(tree),
    }));
  }

  #detailOf(tree: number): string {
    const { service } = this;
    const below = [...(service.below[tree] ?? [])].map(([{ transport }, label]) => `${transport} ${label}`);
    const towardsRoot = service.towardsRoot[tree] ?? -1;
    return [
      service.isJoined(tree) ? `joined with label ${service.labelOf(tree)}` : 'not joined',
      ...(towardsRoot < 0 ? [] : [`label ${towardsRoot} towards the root`]),
      ...(below.length === 0 ? [] : [`below: ${below.join(', ')}`]),
    ].join(', ');
  }

  #setAll(isDown: boolean): void {
    for (let tree = 0; tree < this.#profile.tree.count; tree++) this.service.setDown(tree, isDown);
  }
}
