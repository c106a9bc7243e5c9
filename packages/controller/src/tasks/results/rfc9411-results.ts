import { type GoalResult, type GoalValues, type Rfc9411Result, rfc9411Tests } from '@rushhour/contract';
import type { FoundRun } from './run-record.ts';

interface Searched {
  readonly duration?: { readonly goal?: Partial<GoalValues> };
  readonly httpParams?: { readonly responseSize?: number };
}

const resultOf = (goal: GoalResult, { duration, httpParams }: Searched): Rfc9411Result => {
  const { rfc9411: section, configurationIndex, metric, target, best, isDone, isLowerBound, limit, trials } = goal;
  const found = trials.findLast(({ passed, load }) => passed && load === best);
  return {
    ...{ section, configurationIndex, metric, target, isDone, isLowerBound, limit },
    title: rfc9411Tests[section] ?? '',
    objectBytes: httpParams?.responseSize ?? null,
    initial: trials[0]?.load ?? null,
    result: best,
    sustainSec: duration?.goal?.trialSec ?? 0,
    maxFailedPct: duration?.goal?.maxFailedPct ?? null,
    initialKpis: trials[0]?.kpis ?? [],
    kpis: found?.kpis ?? [],
  };
};

/** Results of the tests of RFC 9411; undefined where a run has none. */
export const rfc9411Results = (
  goals: readonly GoalResult[] | undefined,
  { definition }: Pick<FoundRun, 'definition'>,
): Rfc9411Result[] | undefined => {
  const tests = (goals ?? []).filter(({ rfc9411 }) => rfc9411 !== '');
  if (tests.length === 0) return undefined;
  const entries = (definition.configuration ?? []) as readonly { readonly values?: Searched }[];
  return tests
    .map((goal) => resultOf(goal, entries[goal.configurationIndex]?.values ?? {}))
    .sort((a, b) => a.section.localeCompare(b.section) || a.configurationIndex - b.configurationIndex);
};
