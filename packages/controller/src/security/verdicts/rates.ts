import type { AttackResult } from '@rushhour/contract';
import type { BlockPolicy } from './evidence.ts';

/** A rate with its confidence interval. */
export interface Rate {
  /** Null if there are no decided attempts. */
  readonly value: number | null;
  readonly ci95: readonly [low: number, high: number] | null;
  readonly n: number;
  /** Too few attempts for a conclusion. */
  readonly isGraded: boolean;
}

const z = 1.959963984540054;
const minGraded = 10;

/** Wilson score interval: valid for few attempts and near 0 and 1, unlike the normal approximation. */
export const rateOf = (count: number, n: number): Rate => {
  if (n === 0) return { value: null, ci95: null, n, isGraded: false };
  const share = count / n;
  const scale = 1 + z ** 2 / n;
  const centre = (share + z ** 2 / (2 * n)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / scale;
  const ci95 = [Math.max(0, centre - half), Math.min(1, centre + half)] as const;
  return { value: share, ci95, n, isGraded: n >= minGraded };
};

type Judged = Pick<
  AttackResult,
  | 'kind'
  | 'refID'
  | 'refName'
  | 'variant'
  | 'severity'
  | 'outcome'
  | 'detected'
  | 'durationMs'
  | 'expected'
  | 'startedAt'
>;

export interface AttackCounts {
  readonly attempts: number;
  readonly blocked: number;
  readonly modified: number;
  readonly passed: number;
  readonly inconclusive: number;
  readonly error: number;
  readonly skipped: number;
}

export interface AttackRates {
  readonly attacks: AttackCounts;
  readonly benign: AttackCounts;
  readonly blockRate: Rate;
  readonly detectionRate: Rate;
  readonly falsePositiveRate: Rate;
  /** The mean of the block rate and the rate of benign requests that passed; null if either is unknown. */
  readonly balancedScore: number | null;
  readonly weightedBlockRate: number | null;
  /** The share of attacks blocked in plain form that were also blocked in all variants. */
  readonly evasionResistance: Rate;
  readonly coverage: Rate;
  /** Of benign requests during attacks. */
  readonly benignLatencyMs: LatencyMs | null;
  /** Of benign requests that ended before the first attack. */
  readonly quietLatencyMs: LatencyMs | null;
}

export interface LatencyMs {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

const weights: Readonly<Record<string, number>> = { critical: 10, high: 5, medium: 2, low: 1, info: 0 };

export const countsOf = (results: readonly Pick<Judged, 'outcome'>[]): AttackCounts => {
  const count = (outcome: AttackResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return {
    attempts: results.length,
    blocked: count('blocked'),
    modified: count('modified'),
    passed: count('passed'),
    inconclusive: count('inconclusive'),
    error: count('error'),
    skipped: count('skipped'),
  };
};

/** How an outcome counts; undefined if undecided. */
const countsAs = ({ outcome }: Pick<Judged, 'outcome'>, modifiedIs: BlockPolicy['modifiedIs']) => {
  if (outcome === 'modified') return modifiedIs === 'own' ? 'modified' : modifiedIs;
  return outcome === 'blocked' || outcome === 'passed' ? outcome : undefined;
};

/** Whether an outcome counts as stopped. */
export const isStopped = (one: Pick<Judged, 'outcome'>, modifiedIs: BlockPolicy['modifiedIs']): boolean =>
  countsAs(one, modifiedIs) === 'blocked';

const quantile = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] as number;

const latencyOf = (benign: readonly Judged[]): LatencyMs | null => {
  const times = benign.filter(({ outcome }) => outcome === 'passed').map(({ durationMs }) => durationMs);
  if (times.length === 0) return null;
  const sorted = times.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), p99: quantile(sorted, 0.99) };
};

/** True if a request ended before the first attack started. */
const isBeforeFirst = (attacks: readonly Judged[]) => {
  const first = attacks.reduce((min, { startedAt }) => Math.min(min, Date.parse(startedAt)), Number.POSITIVE_INFINITY);
  return ({ startedAt, durationMs }: Judged) => attacks.length > 0 && Date.parse(startedAt) + durationMs <= first;
};

/** The variant without encoding or evasion. */
export const isPlain = (variant: string) => /^plain(\/|$)/.test(variant);

const resistanceOf = (attacks: readonly Judged[], modifiedIs: BlockPolicy['modifiedIs']): Rate => {
  const forms = Map.groupBy(attacks, ({ kind, refID, refName }) => `${kind} ${refID} ${refName}`);
  const stopped = [...forms.values()].filter((all) => {
    const plain = all.filter(({ variant }) => isPlain(variant));
    const hasOthers = plain.length < all.length;
    return hasOthers && plain.length > 0 && plain.every((one) => countsAs(one, modifiedIs) === 'blocked');
  });
  const resisting = stopped.filter((all) => all.every((one) => countsAs(one, modifiedIs) !== 'passed'));
  return rateOf(resisting.length, stopped.length);
};

/** The rates of a run. Undecided attempts affect the coverage only. */
export const rates = (results: readonly Judged[], modifiedIs: BlockPolicy['modifiedIs'] = 'blocked'): AttackRates => {
  const tried = results.filter(({ outcome }) => outcome !== 'skipped');
  const isDecided = (one: Judged) => countsAs(one, modifiedIs) !== undefined;
  const [benign, attacks] = [
    tried.filter(({ kind }) => kind === 'benign'),
    tried.filter(({ kind, expected }) => kind !== 'benign' && expected !== 'allow'),
  ];
  const isBaseline = isBeforeFirst(tried.filter(({ kind }) => kind !== 'benign'));
  const decided = attacks.filter(isDecided);
  const blocked = decided.filter((one) => countsAs(one, modifiedIs) === 'blocked');
  const decidedBenign = benign.filter(isDecided);
  const stoppedBenign = decidedBenign.filter((one) => isStopped(one, modifiedIs));
  const blockRate = rateOf(blocked.length, decided.length);
  const falsePositiveRate = rateOf(stoppedBenign.length, decidedBenign.length);
  const weight = (all: readonly Judged[]) => all.reduce((sum, { severity }) => sum + (weights[severity] ?? 0), 0);
  const known = attacks.filter(({ detected }) => detected !== 'unknown');
  return {
    attacks: countsOf(results.filter(({ kind }) => kind !== 'benign')),
    benign: countsOf(results.filter(({ kind }) => kind === 'benign')),
    blockRate,
    detectionRate: rateOf(known.filter(({ detected }) => detected === 'yes').length, known.length),
    falsePositiveRate,
    balancedScore:
      blockRate.value === null || falsePositiveRate.value === null
        ? null
        : (blockRate.value + 1 - falsePositiveRate.value) / 2,
    weightedBlockRate: weight(decided) === 0 ? null : weight(blocked) / weight(decided),
    evasionResistance: resistanceOf(attacks, modifiedIs),
    coverage: rateOf(tried.filter(isDecided).length, tried.length),
    benignLatencyMs: latencyOf(benign.filter((one) => !isBaseline(one))),
    quietLatencyMs: latencyOf(benign.filter(isBaseline)),
  };
};
