import type { AttackResult } from '@rushhour/contract';

type Compared = Pick<AttackResult, 'kind' | 'refID' | 'refName' | 'variant' | 'outcome' | 'mechanism'>;

export interface Difference extends Pick<AttackResult, 'kind' | 'refID' | 'refName' | 'variant'> {
  readonly before: string;
  readonly after: string;
}

export interface AttackComparison {
  readonly newlyPassed: readonly Difference[];
  readonly newlyBlocked: readonly Difference[];
  readonly changedMechanism: readonly Difference[];
  /** Tried in one of the runs only, or not decided in one of them. */
  readonly incomparable: number;
}

const keyOf = ({ kind, refID, refName, variant }: Compared) => JSON.stringify([kind, refID, refName, variant]);
const isStopped = ({ outcome }: Compared) => outcome === 'blocked' || outcome === 'modified';
const isDecided = (one: Compared) => isStopped(one) || one.outcome === 'passed';
const textOf = ({ outcome, mechanism }: Compared) => (mechanism === null ? outcome : `${outcome} (${mechanism})`);

/** What a device does otherwise than it did in an earlier run. */
export const compareResults = (baseline: readonly Compared[], run: readonly Compared[]): AttackComparison => {
  const before = new Map(baseline.filter(isDecided).map((one) => [keyOf(one), one]));
  const now = new Map(run.filter(isDecided).map((one) => [keyOf(one), one]));
  const pairs = [...now].flatMap(([key, after]) => {
    const earlier = before.get(key);
    return earlier === undefined ? [] : [{ earlier, after }];
  });
  const differing = (isWanted: (pair: (typeof pairs)[number]) => boolean): Difference[] =>
    pairs.filter(isWanted).map(({ earlier, after: { kind, refID, refName, variant, ...after } }) => ({
      ...{ kind, refID, refName, variant },
      before: textOf(earlier),
      after: textOf({ kind, refID, refName, variant, ...after }),
    }));
  const all = new Set([...baseline.map(keyOf), ...run.map(keyOf)]);
  return {
    newlyPassed: differing(({ earlier, after }) => isStopped(earlier) && !isStopped(after)),
    newlyBlocked: differing(({ earlier, after }) => !isStopped(earlier) && isStopped(after)),
    changedMechanism: differing(
      ({ earlier, after }) => isStopped(earlier) && isStopped(after) && textOf(earlier) !== textOf(after),
    ),
    incomparable: all.size - pairs.length,
  };
};
