import type { AttackSummary } from '@rushhour/contract';
import type { AttackCount } from '../../store/security/attack-counts.ts';
import { rateOf } from './rates.ts';

/** Counts of outcomes; modified content counts as blocked. */
export const attackSummary = (counts: readonly Omit<AttackCount, 'group'>[]): AttackSummary => {
  const sum = (isWanted: (count: Omit<AttackCount, 'group'>) => boolean) =>
    counts.filter(isWanted).reduce((all, { total }) => all + total, 0);
  const of = (outcome: AttackCount['outcome']) => sum((count) => count.outcome === outcome);
  const [blocked, modified, passed] = [of('blocked'), of('modified'), of('passed')];
  const { value, ci95 } = rateOf(blocked + modified, blocked + modified + passed);
  return {
    attempts: sum(({ outcome }) => outcome !== 'skipped'),
    blocked,
    modified,
    passed,
    inconclusive: of('inconclusive'),
    error: of('error'),
    detected: sum(({ detected }) => detected === 'yes'),
    blockRate: value,
    ci95: ci95 === null ? null : [...ci95],
  };
};
