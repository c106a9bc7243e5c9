import type { AttackResult } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { attemptPoliciesOf } from '../../store/runs/run-attempts.ts';
import type { RunRecord } from '../../store/runs/runs.ts';
import { attackResultsOf, baselineOf } from '../../store/security/attack-results.ts';
import { type BlockPolicy, defaultPolicy } from './evidence.ts';
import { rates } from './rates.ts';

type Compared = Pick<AttackResult, 'kind' | 'refID' | 'refName' | 'variant' | 'outcome' | 'mechanism'>;

interface Difference extends Pick<AttackResult, 'kind' | 'refID' | 'refName' | 'variant'> {
  readonly before: string;
  readonly after: string;
}

export interface AttackComparison {
  readonly newlyPassed: readonly Difference[];
  readonly newlyBlocked: readonly Difference[];
  readonly changedMechanism: readonly Difference[];
  /** Attempted or decided in only one of the runs. */
  readonly incomparable: number;
}

const keyOf = ({ kind, refID, refName, variant }: Compared) => JSON.stringify([kind, refID, refName, variant]);
const isStopped = ({ outcome }: Compared) => outcome === 'blocked' || outcome === 'modified';
const isDecided = (one: Compared) => isStopped(one) || one.outcome === 'passed';
const textOf = ({ outcome, mechanism }: Compared) => (mechanism === null ? outcome : `${outcome} (${mechanism})`);

/** Differences to an earlier run. */
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

const kinds: Readonly<Record<string, AttackResult['kind']>> = {
  waf: 'waf',
  'cve-replay': 'cve',
  'malware-transfer': 'malware',
  fuzzing: 'fuzz',
  'compromised-host': 'campaign',
};

const names = ['blockRate', 'falsePositiveRate', 'score', 'coverage', 'newPassed'] as const;
type Name = (typeof names)[number];

const percent = (share: number | null): number | undefined => (share === null ? undefined : share * 100);

/** Splits `waf.blockRate`; undefined for metrics that are not derived from attempts. */
const findName = (metric: string): { kind: AttackResult['kind']; name: Name } | undefined => {
  const dot = metric.lastIndexOf('.');
  const kind = kinds[metric.slice(0, dot)];
  const name = names.find((candidate) => candidate === metric.slice(dot + 1));
  return kind === undefined || name === undefined ? undefined : { kind, name };
};

/** How modified content counts in a run. */
export const modifiedIsIn = async (read: Executor, runId: number): Promise<BlockPolicy['modifiedIs']> => {
  const [first] = await attemptPoliciesOf(read, runId);
  return (first?.policy['modifiedIs'] as BlockPolicy['modifiedIs'] | undefined) ?? defaultPolicy.modifiedIs;
};

/** Values for thresholds, from the results of an ended run. */
export const createAttackValues = async (read: Executor, run: RunRecord) => {
  const modifiedIs = await modifiedIsIn(read, run.id);
  const results = await attackResultsOf(read, run.id);
  const baseline = results.length === 0 ? undefined : await baselineOf(read, run);
  const earlier = baseline === undefined ? [] : await attackResultsOf(read, baseline);
  return {
    isOurs: (metric: string) => results.length > 0 && findName(metric) !== undefined,
    value: (metric: string): number | undefined => {
      const found = findName(metric);
      if (found === undefined) return undefined;
      const own = results.filter(({ kind }) => kind === found.kind || kind === 'benign') as unknown as AttackResult[];
      const { blockRate, falsePositiveRate, balancedScore, coverage } = rates(own, modifiedIs);
      const before = earlier.filter(({ kind }) => kind === found.kind) as unknown as AttackResult[];
      const values: Record<Name, () => number | undefined> = {
        blockRate: () => percent(blockRate.value),
        falsePositiveRate: () => percent(falsePositiveRate.value),
        score: () => percent(balancedScore),
        coverage: () => percent(coverage.value),
        newPassed: () =>
          compareResults(
            before,
            own.filter(({ kind }) => kind !== 'benign'),
          ).newlyPassed.length,
      };
      return values[found.name]();
    },
  };
};
