import type { AttemptRecord, FindingObservation } from '@rushhour/protocol';

/** A finding of fuzzing with all cases that made it. */
export interface ShownFinding extends FindingObservation {
  readonly at: string;
  /** Cases with the same cause, this one included. */
  readonly count: number;
  /** Names of the first of them. */
  readonly cases: readonly string[];
}

const maxCases = 20;

/** Repeats are joined with the finding that they repeat, which its agent reported before them. */
export const findingsIn = (
  records: readonly AttemptRecord[],
  at: (elapsedMs: number) => string,
): readonly ShownFinding[] => {
  const found = records.flatMap((record) => (record.side === 'finding' ? [record] : []));
  const keyOf = ({ kind, target }: FindingObservation, attempt: number) => `${kind} ${target} ${attempt}`;
  const repeats = Map.groupBy(
    found.filter(({ repeats }) => repeats !== undefined),
    (one) => keyOf(one, one.repeats as number),
  );
  return found
    .filter((one) => one.repeats === undefined)
    .map((one) => {
      const same = one.attempt === null ? [] : (repeats.get(keyOf(one, one.attempt)) ?? []);
      const cases = [one, ...same].map(({ name }) => name).filter((name) => name !== '');
      return { ...one, at: at(one.atMs), count: 1 + same.length, cases: cases.slice(0, maxCases) };
    });
};
