import type { PlaneCommand } from '@rushhour/protocol';
import { type BgpWire, FlapSchedule, type RouteSource } from '@rushhour/wire';
import type { InstanceCounters, NeighbourRow, ProtocolInstance, RouteRow, Router } from '../routers/router.ts';
import type { BgpInstance } from '../routing/bgp-instance.ts';
import type { CarriedWires } from '../routing/bgp-options.ts';

/** The wires or sites of a profile over one BGP session. */
export class BgpWireInstance implements ProtocolInstance {
  readonly protocol: CarriedWires['protocol'];
  readonly router: Router;
  readonly #bgp: BgpInstance;
  readonly #wires: CarriedWires['wires'];
  readonly #flaps: FlapSchedule;
  #states: readonly BgpWire[] = [];
  /** Number of route changes that the states were computed after. */
  #seen = -1;
  #upAt: number | undefined;
  #flapCount = 0;
  /** The wire that is interrupted next. */
  #interrupted = 0;
  /** The session that interruptions were said in. */
  #establishedAt = 0;

  constructor(bgp: BgpInstance, { protocol, wires, flaps }: CarriedWires) {
    this.protocol = protocol;
    this.router = bgp.router;
    this.#bgp = bgp;
    this.#wires = wires;
    const { intervalSec, downSec, count } = flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
  }

  /** Its routes are counted by BGP. */
  get counters(): InstanceCounters {
    return { tx: 0, rx: 0, flaps: this.#flapCount, prefixesSent: 0, prefixesReceived: 0 };
  }

  start(now: number): void {
    this.#flaps.start(now);
  }

  advance(now: number): void {
    this.#follow();
    const change = this.#flaps.advance(now);
    if (change === undefined) return;
    this.#set(this.#interrupted, change === 'down');
    if (change === 'up') this.#interrupted = (this.#interrupted + 1) % this.#wires.count;
  }

  stop(): void {}

  command({ action }: PlaneCommand): string | undefined {
    const isDown = action === 'withdraw' || action === 'stop' || action === 'linkDown';
    if (!isDown && action !== 'announce' && action !== 'start' && action !== 'linkUp')
      return `wires cannot do ${action}`;
    for (let wire = 0; wire < this.#wires.count; wire++) this.#set(wire, isDown);
    return undefined;
  }

  neighbours(now: number): readonly NeighbourRow[] {
    const states = this.#current();
    const up = states.filter(({ state }) => state === 'up').length;
    this.#upAt = up > 0 ? (this.#upAt ?? now) : undefined;
    return [
      {
        router: this.router.address,
        protocol: this.protocol,
        neighbour: this.#bgp.peer,
        state: up === states.length ? 'up' : up > 0 ? 'partly up' : 'down',
        isUp: up > 0,
        uptimeMs: Math.round(now - (this.#upAt ?? now)),
        flaps: this.#flapCount,
        routesSent: states.filter(({ state }) => state !== 'interrupted').length,
        routesReceived: states.filter(({ label }) => label !== undefined).length,
        databaseSize: 0,
        lastError: states.find(({ state }) => state !== 'up')?.state ?? '',
      },
    ];
  }

  /** The wires, each with its state. */
  routes(limit: number): readonly RouteRow[] {
    return this.#current()
      .slice(0, Math.max(0, limit))
      .map(({ title, state, ownLabel, label }) => ({
        router: this.router.address,
        neighbour: this.#bgp.peer,
        protocol: this.protocol,
        family: 'wire',
        route: title,
        nextHop: this.#bgp.peer,
        detail: `${state}, labels ${ownLabel ?? 'none'} in, ${label ?? 'none'} out`,
      }));
  }

  /** Number of route changes of the neighbour. */
  get #changes(): number {
    const { announced, withdrawn, malformed } = this.#bgp.session.rib.counters;
    return announced + withdrawn + malformed;
  }

  /** States are computed again once routes have changed. */
  #current(): readonly BgpWire[] {
    const { rib } = this.#bgp.session;
    if (this.#changes !== this.#seen || rib.count === 0) this.#states = this.#wires.states(rib);
    this.#seen = this.#changes;
    return this.#states;
  }

  /** A new session begins with all routes; routes of the neighbour may need further ones. */
  #follow(): void {
    const { session } = this.#bgp;
    if (session.establishedAt !== this.#establishedAt) {
      this.#establishedAt = session.establishedAt;
      if (session.establishedAt > 0) this.#withdrawInterrupted();
    }
    if (this.#changes === this.#seen) return;
    const added = this.#wires.addedSources(session.rib);
    for (const source of added) session.extend(source);
    if (added.length > 0) this.#withdrawInterrupted();
    this.#current();
  }

  #set(wire: number, isDown: boolean): void {
    if (isDown) this.#flapCount++;
    this.#say(this.#wires.interrupt(wire, isDown), isDown);
    this.#seen = -1;
  }

  #withdrawInterrupted(): void {
    for (const wire of this.#wires.interrupted) this.#say(this.#wires.interrupt(wire, true), true);
  }

  #say(sources: readonly RouteSource[], isWithdrawn: boolean): void {
    for (const source of sources) this.#bgp.session.say(source, isWithdrawn);
  }
}

/** The wires of a router, over all its BGP sessions that have their family. */
export const bgpWireInstancesOf = (router: Router, sessions: readonly BgpInstance[]): BgpWireInstance[] =>
  sessions
    .filter((session) => session.router === router)
    .flatMap((session) => session.wires.map((carried) => new BgpWireInstance(session, carried)));
