import type { GoalResult, GoalTrial, GoalValues } from '@rushhour/contract';
import { goalEvents } from '../../runs/goals/goal-watch.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runEventsOf } from '../../store/runs/run-events.ts';
import type { FoundRun } from './run-record.ts';

type Data = GoalTrial & { entry: number; best?: number | null };

const dataOf = async (read: Executor, id: number, type: string): Promise<Data[]> =>
  (await runEventsOf(read, id, type)).map(({ data }) => data as unknown as Data);

const trialOf = ({ kpis = [], ...data }: Data): GoalTrial => {
  const { number, load, reached, isRepeat, passed, fromSec, toSec, bps, limit, reason, values } = data;
  return { number, load, reached, isRepeat, passed, fromSec, toSec, bps, limit, reason, values, kpis };
};

/** The search of one entry from its trials. */
const goalResultOf = (
  configurationIndex: number,
  { metric, max, rfc9411 }: Pick<GoalValues, 'metric' | 'max' | 'rfc9411'>,
  { trials, isDone, best }: { trials: GoalTrial[]; isDone: boolean; best: number | null },
): GoalResult => {
  const above = trials.filter(({ passed, load }) => !passed && load > (best ?? 0)).sort((a, b) => a.load - b.load);
  const limit = best !== null && best >= max ? 'max' : (above[0]?.limit ?? '');
  return {
    ...{ configurationIndex, metric, best, isDone, limit, trials, target: max, rfc9411 },
    bps: trials.findLast(({ passed, load }) => passed && load === best)?.bps ?? null,
    isLowerBound: limit === 'max' || limit === 'generator',
  };
};

/** Searches of a run; undefined where it has none. */
export const readGoals = async (
  read: Executor,
  { id, definition }: Pick<FoundRun, 'id' | 'definition'>,
): Promise<GoalResult[] | undefined> => {
  const goals = (definition.configuration ?? []).flatMap((entry, index) => {
    const goal = (entry as { values?: { duration?: { goal?: GoalValues } } }).values?.duration?.goal;
    return goal === undefined ? [] : [{ index, goal }];
  });
  if (goals.length === 0) return undefined;
  const judged = await dataOf(read, id, goalEvents.judged);
  const ended = await dataOf(read, id, goalEvents.ended);
  return goals.map(({ index, goal }) => {
    const trials = judged.filter(({ entry }) => entry === index).map(trialOf);
    const end = ended.find(({ entry }) => entry === index);
    const failed = Math.min(...trials.filter(({ passed }) => !passed).map(({ load }) => load));
    const passed = trials.filter((trial) => trial.passed && trial.load < failed).map(({ load }) => load);
    const best = end?.best ?? (passed.length > 0 ? Math.max(...passed) : null);
    return goalResultOf(
      index,
      { ...goal, metric: goal.metric ?? 'requestsPerSecond', rfc9411: goal.rfc9411 ?? '' },
      { trials, isDone: end !== undefined, best },
    );
  });
};
