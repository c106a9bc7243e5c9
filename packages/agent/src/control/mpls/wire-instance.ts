import type { PlaneCommand } from '@rushhour/protocol';
import { FlapSchedule, WireService } from '@rushhour/wire';
import type { PseudowireProfile } from '../routers/profiles.ts';
import type { InstanceCounters, NeighbourRow, ProtocolInstance, RouteRow, Router } from '../routers/router.ts';
import type { WirePlan } from './wire-options.ts';

/** Pseudowires over the LDP sessions of the same router. */
export class WireInstance implements ProtocolInstance {
  readonly protocol: WirePlan['protocol'];
  readonly router: Router;
  readonly service: WireService;
  readonly #plan: WirePlan;
  readonly #flaps: FlapSchedule;
  /** When wires to each neighbour have come up. */
  readonly #upAt: (number | undefined)[] = [];
  /** The wire that is interrupted next. */
  #interrupted = 0;

  constructor(plan: WirePlan, { router, flaps }: { router: Router; flaps: PseudowireProfile['flaps'] }) {
    this.protocol = plan.protocol;
    this.router = router;
    this.#plan = plan;
    this.service = new WireService(plan.service);
    const { intervalSec, downSec, count } = flaps;
    this.#flaps = new FlapSchedule({ intervalMs: intervalSec * 1000, downMs: downSec * 1000, count });
  }

  get counters(): InstanceCounters {
    const { sent, received, flaps } = this.service.counters;
    return { tx: 0, rx: 0, flaps, prefixesSent: sent, prefixesReceived: received };
  }

  start(now: number): void {
    this.#flaps.start(now);
  }

  advance(now: number): void {
    const change = this.#flaps.advance(now);
    if (change === undefined) return;
    this.service.setDown(this.#interrupted, change === 'down');
    if (change === 'up') this.#interrupted = (this.#interrupted + 1) % this.#plan.service.count;
  }

  stop(): void {
    this.#setAll(true);
  }

  command({ action }: PlaneCommand): string | undefined {
    if (action === 'announce' || action === 'start' || action === 'linkUp') this.#setAll(false);
    else if (action === 'withdraw' || action === 'stop' || action === 'linkDown') this.#setAll(true);
    else return `pseudowires cannot do ${action}`;
    return undefined;
  }

  /** A row for each neighbour. */
  neighbours(now: number): readonly NeighbourRow[] {
    const { neighbours } = this.service;
    return neighbours.map((neighbour, slot) => this.#rowOf(slot, neighbour?.transport, now));
  }

  /** The wires, each with its state. */
  routes(limit: number): readonly RouteRow[] {
    const { service } = this;
    const { count } = this.#plan.service;
    const peers = service.neighbours.map((neighbour) => neighbour?.transport ?? '');
    return Array.from({ length: Math.max(0, Math.min(limit, service.wires.size)) }, (_, wire) => {
      const neighbour = peers[Math.floor(wire / count)] ?? '';
      const label = service.labelOf(wire);
      const labels = `labels ${service.ownLabelOf(wire)} in, ${label < 0 ? 'none' : label} out`;
      return {
        router: this.router.address,
        neighbour,
        protocol: this.protocol,
        family: 'wire',
        route: this.#plan.titleOf(wire % count),
        nextHop: neighbour,
        detail: `${service.stateOf(wire)}, ${labels}`,
      };
    });
  }

  #rowOf(slot: number, neighbour: string | undefined, now: number): NeighbourRow {
    const { count } = this.#plan.service;
    const states = Array.from({ length: count }, (_, i) => this.service.stateOf(slot * count + i));
    const up = states.filter((state) => state === 'up' || state === 'standby').length;
    this.#upAt[slot] = up > 0 ? (this.#upAt[slot] ?? now) : undefined;
    return {
      router: this.router.address,
      protocol: this.protocol,
      neighbour: neighbour ?? this.#plan.peers[slot] ?? '',
      state: up === count ? 'up' : up > 0 ? 'partly up' : 'down',
      isUp: up > 0,
      uptimeMs: Math.round(now - (this.#upAt[slot] ?? now)),
      flaps: this.service.counters.flaps,
      routesSent: neighbour === undefined ? 0 : count,
      routesReceived: states.filter((state) => state !== 'no label' && state !== 'no neighbour').length,
      databaseSize: 0,
      lastError: states.find((state) => state !== 'up' && state !== 'standby') ?? '',
    };
  }

  #setAll(isDown: boolean): void {
    for (let i = 0; i < this.#plan.service.count; i++) this.service.setDown(i, isDown);
  }
}
