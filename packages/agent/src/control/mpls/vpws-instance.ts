import type { PlaneCommand } from '@rushhour/protocol';
import { FlapSchedule, type VpwsWire, type VpwsWires } from '@rushhour/wire';
import type { PlannedRouter } from '../routers/plan-routers.ts';
import type { VpwsProfile } from '../routers/profiles.ts';
import type { InstanceCounters, NeighbourRow, ProtocolInstance, RouteRow, Router } from '../routers/router.ts';
import type { BgpInstance } from '../routing/bgp-instance.ts';

/** The wires of a profile over one BGP session. */
export class VpwsInstance implements ProtocolInstance {
  readonly protocol = 'vpws';
  readonly router: Router;
  readonly #bgp: BgpInstance;
  readonly #wires: VpwsWires;
  readonly #flaps: FlapSchedule;
  #states: readonly VpwsWire[] = [];
  /** Number of route changes that the states were computed after. */
  #seen = -1;
  #upAt: number | undefined;
  #flapCount = 0;
  /** The wire that is interrupted next. */
  #interrupted = 0;

  constructor(bgp: BgpInstance, wires: VpwsWires, { flaps }: VpwsProfile) {
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
      .map(({ localId, remoteId, state, ownLabel, label }) => ({
        router: this.router.address,
        neighbour: this.#bgp.peer,
        protocol: this.protocol,
        family: 'wire',
        route: `${localId}-${remoteId}`,
        nextHop: this.#bgp.peer,
        detail: `${state}, labels ${ownLabel} in, ${label ?? 'none'} out`,
      }));
  }

  /** States are computed again once routes have changed. */
  #current(): readonly VpwsWire[] {
    const { rib } = this.#bgp.session;
    const seen = rib.counters.announced + rib.counters.withdrawn + rib.counters.malformed;
    if (seen !== this.#seen || rib.count === 0) this.#states = this.#wires.states(rib);
    this.#seen = seen;
    return this.#states;
  }

  #set(wire: number, isDown: boolean): void {
    if (isDown) this.#flapCount++;
    this.#bgp.session.say(this.#wires.interrupt(wire, isDown), isDown);
    this.#seen = -1;
  }
}

/** The wires of a router, over all its BGP sessions that have the family. */
export const vpwsInstancesOf = (
  { router, profiles }: PlannedRouter,
  sessions: readonly BgpInstance[],
): VpwsInstance[] => {
  const own = profiles.filter(({ protocol }) => protocol === 'vpws');
  return sessions
    .filter((session) => session.router === router)
    .flatMap((session) =>
      session.wires.map((wires, i) => new VpwsInstance(session, wires, own[i]?.config as VpwsProfile)),
    );
};
