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
  /** Harmless exchanges that were let through before. */
  readonly newFalsePositives: readonly Difference[];
  readonly changedMechanism: readonly Difference[];
  /** Attempted or decided in only one of the runs. */
  readonly incomparable: number;
}

const keyOf = ({ kind, refID, refName, variant }: Compared) => JSON.stringify([kind, refID, refName, variant]);
const isStopped = ({ outcome }: Compared) => outcome === 'blocked' || outcome === 'modified';
const isBenign = ({ kind }: Compared) => kind === 'benign';
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
    newlyPassed: differing(({ earlier, after }) => !isBenign(after) && isStopped(earlier) && !isStopped(after)),
    newlyBlocked: differing(({ earlier, after }) => !isBenign(after) && !isStopped(earlier) && isStopped(after)),
    newFalsePositives: differing(({ earlier, after }) => isBenign(after) && !isStopped(earlier) && isStopped(after)),
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

export const derivedNames = [
  ...['blockRate', 'falsePositiveRate', 'score', 'coverage', 'newPassed', 'newFalsePositives', 'evasionResistance'],
  'moduleBlockRate',
] as const;
type Name =
  | 'blockRate'
  | 'falsePositiveRate'
  | 'score'
  | 'coverage'
  | 'newPassed'
  | 'newFalsePositives'
  | 'evasionResistance'
  | 'moduleBlockRate';

const percent = (share: number | null): number | undefined => (share === null ? undefined : share * 100);

/** Splits `waf.blockRate`; undefined for metrics that are not derived from attempts. */
const findName = (metric: string): { kind: AttackResult['kind']; name: Name; module: string } | undefined => {
  const [engine = '', last = '', ...module] = metric.split('.');
  const kind = kinds[engine];
  const name = derivedNames.find((candidate) => candidate === last) as Name | undefined;
  const isWhole = (name === 'moduleBlockRate') === module.length > 0;
  return kind === undefined || name === undefined || !isWhole ? undefined : { kind, name, module: module.join('.') };
};

/** How modified content counts in a run. */
export const modifiedIsIn = async (read: Executor, runId: number): Promise<BlockPolicy['modifiedIs']> => {
  const [first] = await attemptPoliciesOf(read, runId);
  return (first?.policy['modifiedIs'] as BlockPolicy['modifiedIs'] | undefined) ?? defaultPolicy.modifiedIs;
};

/** Whether reports list every case of fuzzing; runs of other tests have no such choice. */
export const isRecordingAll = async (read: Executor, runId: number): Promise<boolean> =>
  (await attemptPoliciesOf(read, runId)).every(({ policy }) => policy['record'] !== 'failures');

/** Fewer decided attempts say nothing about the device. */
const minDecided = 0.5;

/** Values for thresholds, from the results of an ended run. */
export const createAttackValues = async (read: Executor, run: RunRecord) => {
  const modifiedIs = await modifiedIsIn(read, run.id);
  const results = await attackResultsOf(read, run.id);
  const baseline = results.length === 0 ? undefined : await baselineOf(read, run);
  const earlier = (baseline === undefined ? [] : await attackResultsOf(read, baseline)) as unknown as AttackResult[];
  const ofKind = (all: readonly { kind: string }[], kind: string) =>
    all.filter((one) => one.kind === kind || one.kind === 'benign') as unknown as AttackResult[];
  return {
    isOurs: (metric: string) => results.length > 0 && findName(metric) !== undefined,
    /** Why the results say little about the device. */
    doubts: (): string[] => {
      const { value, n } = rates(results as unknown as AttackResult[], modifiedIs).coverage;
      if (value === null || value >= minDecided) return [];
      return [
        `only ${Math.round(value * n)} of ${n} attempts could be decided: the rates say nothing about the device`,
      ];
    },
    value: (metric: string): number | undefined => {
      const found = findName(metric);
      if (found === undefined) return undefined;
      const own = ofKind(results, found.kind);
      const { blockRate, falsePositiveRate, balancedScore, coverage, evasionResistance } = rates(own, modifiedIs);
      const compared = () => compareResults(ofKind(earlier, found.kind), own);
      const ofModule = () => results.filter(({ kind, category }) => kind === found.kind && category === found.module);
      const values: Record<Name, () => number | undefined> = {
        blockRate: () => percent(blockRate.value),
        falsePositiveRate: () => percent(falsePositiveRate.value),
        score: () => percent(balancedScore),
        coverage: () => percent(coverage.value),
        newPassed: () => compared().newlyPassed.length,
        newFalsePositives: () => compared().newFalsePositives.length,
        evasionResistance: () => percent(evasionResistance.value),
        moduleBlockRate: () => percent(rates(ofModule() as unknown as AttackResult[], modifiedIs).blockRate.value),
      };
      return values[found.name]();
    },
  };
};
