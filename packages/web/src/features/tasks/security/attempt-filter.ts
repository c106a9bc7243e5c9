import type { ReportedAttempt } from './security-report.ts';

/** A filter of attempts; empty members match everything. */
export interface AttemptFilter {
  readonly outcome: string;
  readonly category: string;
  readonly search: string;
}

const textOf = ({ refName, variant, reason, mechanism, techniques }: ReportedAttempt) =>
  [refName, variant, reason, mechanism ?? '', ...techniques].join(' ').toLowerCase();

export const filterAttempts = (attempts: readonly ReportedAttempt[], { outcome, category, search }: AttemptFilter) => {
  const wanted = search.trim().toLowerCase();
  return attempts.filter(
    (attempt) =>
      (outcome === '' || attempt.outcome === outcome) &&
      (category === '' || attempt.category === category) &&
      (wanted === '' || textOf(attempt).includes(wanted)),
  );
};

/** All categories, sorted. */
export const categoriesIn = (attempts: readonly ReportedAttempt[]): string[] =>
  [...new Set(attempts.map(({ category }) => category))].filter((category) => category !== '').sort();
