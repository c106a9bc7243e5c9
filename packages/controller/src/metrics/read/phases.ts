import type { Phase } from '@rushhour/protocol';
import { otherGroup, type RunFacts, type Side } from './run-facts.ts';

interface SidePhases {
  readonly bySecond: Map<number, Phase>;
  /** The last whole second with traffic: what follows is the end of what was begun until then. */
  last: number;
}

/** A pause is no phase of its own: the phase before it goes on afterwards. */
export type TrafficPhase = Exclude<Phase, 'paused'>;

/** A second of which one client was there: its phase, and whether it was about as long as a second. */
export interface SecondPhase {
  readonly phase: Phase;
  readonly isWhole: boolean;
}

/** The second that a measurement counts in. */
export interface SecondSlot {
  readonly second: number;
  /** That second becomes longer by it: traffic went on, as in the last half second of a run of 2.5 s. */
  readonly countsTime: boolean;
}

/**
 * Which seconds of a run are steady. Clients know: servers answer during ramps and warm-up as well, so theirs are those
 * of their clients, or of any client where they have none of their own.
 */
export class Phases {
  readonly #facts: Pick<RunFacts, 'sides'>;
  /** By client side. */
  readonly #phases = new Map<number, SidePhases>();
  readonly #hasClients: boolean;
  #newest: { second: number; phase: TrafficPhase } | undefined;

  constructor(facts: Pick<RunFacts, 'sides'>) {
    this.#facts = facts;
    this.#hasClients = [...facts.sides.values()].some(({ role }) => role === 'client');
  }

  note(group: number, second: number, { phase, isWhole }: SecondPhase): void {
    if (this.#hasClients && this.#facts.sides.get(group)?.role !== 'client') return;
    let known = this.#phases.get(group);
    if (known === undefined) {
      known = { bySecond: new Map(), last: 0 };
      this.#phases.set(group, known);
    }
    known.bySecond.set(second, phase);
    if (phase !== 'windDown' && phase !== 'paused' && isWhole) known.last = Math.max(known.last, second);
    if (phase === 'paused') return;
    if (this.#newest === undefined || second >= this.#newest.second) this.#newest = { second, phase };
  }

  /** The phase the run was in last, pauses aside. */
  get newest(): TrafficPhase | undefined {
    return this.#newest?.phase;
  }

  /**
   * The steady second that what was measured in this one belongs to; undefined when it belongs to none. What comes
   * after the last whole second of the clients is the end of what was begun in it. A short second before that follows a
   * stall of the generator and is a second like any other.
   */
  steadySecond({ group }: Pick<Side, 'group'>, second: number): SecondSlot | undefined {
    const clients = this.#clientsOf(group);
    const last = clients.reduce((latest, client) => Math.max(latest, client.last), 0);
    let counted = Math.min(second, last);
    // Answers that arrive during a pause belong to the second before it; the pause itself is no time of traffic.
    while (clients.some(({ bySecond }) => bySecond.get(counted) === 'paused')) counted -= 1;
    if (!clients.some((client) => phaseIn(client, counted) === 'steady')) return undefined;
    return { second: counted, countsTime: clients.some(({ bySecond }) => bySecond.get(second) === 'steady') };
  }

  /** Whether there is a steady second at all. */
  hasSteady(sides: Iterable<Pick<Side, 'group'>>): boolean {
    for (const { group } of sides) {
      for (const { bySecond, last } of this.#clientsOf(group)) {
        for (const [second, phase] of bySecond) if (phase === 'steady' && second <= last) return true;
      }
    }
    return false;
  }

  #clientsOf(group: number): SidePhases[] {
    const own = this.#phases.get(group) ?? this.#phases.get(otherGroup(group));
    return own === undefined ? [...this.#phases.values()] : [own];
  }
}

/** Traffic follows: a second that seems to be winding down belongs to the phase before it. */
const phaseIn = ({ bySecond, last }: SidePhases, second: number): Phase | undefined => {
  let before = second;
  while (before > 0 && before <= last && bySecond.get(before) === 'windDown') before -= 1;
  return bySecond.get(before);
};
