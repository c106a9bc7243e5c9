import { type GoalValues, maxGoalTrials } from '@rushhour/contract';

/** What a search knows of a trial. */
export interface JudgedTrial {
  readonly load: number;
  readonly passed: boolean;
  readonly isRepeat: boolean;
}

export interface NextTrial {
  readonly load: number;
  readonly isRepeat: boolean;
}

interface SearchEnd {
  /** The highest load that passed every trial; null when none did. */
  readonly best: number | null;
  /** The lowest load that failed; undefined when none did. */
  readonly failed: number | undefined;
}

type Bounds = Pick<GoalValues, 'start' | 'max' | 'resolutionPct'>;

/** The highest load that passed below every load that failed, and the lowest of those. */
const edgeOf = (trials: readonly JudgedTrial[]) => {
  const failed = Math.min(...trials.filter(({ passed }) => !passed).map(({ load }) => load));
  const best = Math.max(0, ...trials.filter(({ passed, load }) => passed && load < failed).map(({ load }) => load));
  return { best, failed };
};

/** The next trial of a search: doubled until one fails, then halved in between, and the best one twice. */
export const nextTrial = (goal: Bounds, trials: readonly JudgedTrial[]): NextTrial | SearchEnd => {
  if (trials.length === 0) return { load: goal.start, isRepeat: false };
  const { best, failed } = edgeOf(trials);
  const end: SearchEnd = { best: best || null, failed: Number.isFinite(failed) ? failed : undefined };
  if (trials.length >= maxGoalTrials(goal)) return end;
  if (best === 0) return failed <= 1 ? end : { load: Math.max(1, Math.floor(failed / 2)), isRepeat: false };
  const repeat = trials.some(({ load, isRepeat }) => isRepeat && load === best) ? end : { load: best, isRepeat: true };
  if (!Number.isFinite(failed)) {
    return best >= goal.max ? repeat : { load: Math.min(best * 2, goal.max), isRepeat: false };
  }
  const middle = Math.round((best + failed) / 2);
  const isFine = (failed - best) / best <= goal.resolutionPct / 100 || middle === best || middle === failed;
  return isFine ? repeat : { load: middle, isRepeat: false };
};

export const isSearchEnd = (next: NextTrial | SearchEnd): next is SearchEnd => 'best' in next;
