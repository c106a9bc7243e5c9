import type { Phase } from '@rushhour/protocol';
import { otherGroup, type RunFacts, type Side } from './run-facts.ts';

/**
 * Which seconds of a run are steady. Clients know: servers answer during ramps and warm-up as well, so theirs are those
 * of their clients, or of any client where they have none of their own.
 */
export class Phases {
  readonly #facts: Pick<RunFacts, 'sides'>;
  /** By client side, then by second. */
  readonly #phases = new Map<number, Map<number, Phase>>();
  readonly #hasClients: boolean;
  #newest: { second: number; phase: Phase } | undefined;

  constructor(facts: Pick<RunFacts, 'sides'>) {
    this.#facts = facts;
    this.#hasClients = [...facts.sides.values()].some(({ role }) => role === 'client');
  }

  note(group: number, second: number, phase: Phase): void {
    if (this.#hasClients && this.#facts.sides.get(group)?.role !== 'client') return;
    let known = this.#phases.get(group);
    if (known === undefined) {
      known = new Map();
      this.#phases.set(group, known);
    }
    known.set(second, phase);
    if (this.#newest === undefined || second >= this.#newest.second) this.#newest = { second, phase };
  }

  /** The phase the run was in last. */
  get newest(): Phase | undefined {
    return this.#newest?.phase;
  }

  isSteady({ group }: Pick<Side, 'group'>, second: number): boolean {
    const own = this.#phases.get(group) ?? this.#phases.get(otherGroup(group));
    if (own !== undefined) return own.get(second) === 'steady';
    for (const phases of this.#phases.values()) if (phases.get(second) === 'steady') return true;
    return false;
  }

  /** Whether there is a steady second at all. */
  hasSteady(sides: Iterable<Pick<Side, 'group'>>): boolean {
    for (const { group } of sides) {
      const own = this.#phases.get(group) ?? this.#phases.get(otherGroup(group));
      for (const phases of own ? [own] : this.#phases.values()) {
        for (const phase of phases.values()) if (phase === 'steady') return true;
      }
    }
    return false;
  }
}
