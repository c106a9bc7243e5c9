import { text } from '../../../lib/text.ts';
import { choiceLabelOf } from '../../../texts/choices.ts';
import type { ReportedAttempt } from './security-report.ts';

/** A filter of attempts; empty members match everything. */
export interface AttemptFilter {
  /** A judgement. */
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
      (outcome === '' || judgementOf(attempt) === outcome) &&
      (category === '' || attempt.category === category) &&
      (wanted === '' || textOf(attempt).includes(wanted)),
  );
};

/** What an outcome means for the device, given what was expected of it. */
export type Judgement =
  | 'bypassed'
  | 'falsePositive'
  | 'altered'
  | 'inconclusive'
  | 'error'
  | 'blocked'
  | 'ok'
  | 'skipped';

/** In the order in which people look at them. */
export const judgements: readonly Judgement[] = [
  'bypassed',
  'falsePositive',
  'altered',
  'inconclusive',
  'error',
  'blocked',
  'ok',
  'skipped',
];

/** An attack that arrives has bypassed the device; a harmless request that does not is a false positive. */
export const judgementOf = ({ expected, outcome }: Pick<ReportedAttempt, 'expected' | 'outcome'>): Judgement => {
  const isHarmless = expected === 'allow';
  if (outcome === 'passed') return isHarmless ? 'ok' : 'bypassed';
  if (outcome === 'blocked') return isHarmless ? 'falsePositive' : 'blocked';
  return outcome === 'modified' ? 'altered' : outcome;
};

/** An outcome of a comparison, such as `blocked (tcp-reset)`, in the words of the page. */
export const outcomeText = (kind: string, outcome: string): string => {
  const [, name = outcome, mechanism] = /^(\w+)(?: \((.+)\))?$/.exec(outcome) ?? [];
  const isOutcome = Object.hasOwn(text.security.outcomes, name);
  if (!isOutcome) return outcome;
  const expected = kind === 'benign' ? 'allow' : 'block';
  const judgement = text.security.judgements[judgementOf({ expected, outcome: name as ReportedAttempt['outcome'] })];
  return mechanism === undefined ? judgement : `${judgement} (${choiceLabelOf(mechanism, 'mechanism')})`;
};

/** Bypasses first, then false positives; otherwise in the order of the run. */
export const byJudgement = (attempts: readonly ReportedAttempt[]): ReportedAttempt[] =>
  attempts.toSorted((a, b) => judgements.indexOf(judgementOf(a)) - judgements.indexOf(judgementOf(b)));

/** All categories, sorted. */
export const categoriesIn = (attempts: readonly ReportedAttempt[]): string[] =>
  [...new Set(attempts.map(({ category }) => category))].filter((category) => category !== '').sort();
