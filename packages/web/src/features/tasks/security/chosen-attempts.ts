import type { ReportedAttempt } from './security-report.ts';

/** What of the attempts a person wants to see; empty members want everything. */
export interface AttemptWish {
  readonly outcome: string;
  readonly category: string;
  readonly search: string;
}

const textOf = ({ refName, variant, reason, mechanism, techniques }: ReportedAttempt) =>
  [refName, variant, reason, mechanism ?? '', ...techniques].join(' ').toLowerCase();

export const chosenAttempts = (attempts: readonly ReportedAttempt[], { outcome, category, search }: AttemptWish) => {
  const wanted = search.trim().toLowerCase();
  return attempts.filter(
    (attempt) =>
      (outcome === '' || attempt.outcome === outcome) &&
      (category === '' || attempt.category === category) &&
      (wanted === '' || textOf(attempt).includes(wanted)),
  );
};

/** In the order of the alphabet, each once. */
export const categoriesIn = (attempts: readonly ReportedAttempt[]): string[] =>
  [...new Set(attempts.map(({ category }) => category))].filter((category) => category !== '').sort();
