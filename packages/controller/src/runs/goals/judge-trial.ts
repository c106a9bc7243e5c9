import { type GoalTrial, type GoalValues, limitText, measureText, type Threshold } from '@rushhour/contract';
import { holds, type MetricReader } from '../verdict/thresholds.ts';
import { failedPctOf, type ReadMetric, trialKpis } from './trial-kpis.ts';

/** A load counts as reached from this share on. */
const reachedShare = 0.95;
/** Bits of an event are an estimate: with less than this share of them something was lost on the way. */
const carriedShare = 0.8;
const busyPct = 90;
/** A generator that was away for so long did not keep its schedule. */
const longLagMs = 250;

interface Trial {
  readonly runId: number;
  readonly index: number;
  readonly plugin: string;
  readonly goal: GoalValues;
  readonly load: number;
  /** Events per second that were asked for, where the load is another one. */
  readonly rate: number;
  readonly isRepeat: boolean;
  readonly fromSec: number;
  readonly toSec: number;
}

type Judgement = Pick<GoalTrial, 'load' | 'reached' | 'passed' | 'bps' | 'limit' | 'reason' | 'values' | 'kpis'> & {
  /** Events per second that were begun. */
  readonly begun: number;
};

/** Reads metrics of an entry over some of its seconds. */
export const trialReader =
  (
    metrics: MetricReader,
    { runId, index, fromSec, toSec }: Pick<Trial, 'runId' | 'index' | 'fromSec' | 'toSec'>,
  ): ReadMetric =>
  (metric, aggregation) =>
    metrics.value({ runId, metric, aggregation, scope: { configurationIndex: index }, window: { fromSec, toSec } });

/** Bits per second in both directions. */
export const bitsOf = async (value: ReadMetric): Promise<number> =>
  ((await value('rxBps', 'avg')) ?? 0) + ((await value('txBps', 'avg')) ?? 0);

/** The load that there was, in the unit of the goal. */
const reachedOf = async (value: ReadMetric, { goal, plugin }: Trial): Promise<number> => {
  if (goal.metric === 'throughputBps') return bitsOf(value);
  const metric = plugin === 'tcp' ? 'tcp.active' : 'http.concurrent';
  return (await value(goal.metric === 'concurrentSessions' ? metric : 'achievedLoad', 'avg')) ?? 0;
};

/** What keeps the load from counting as reached. */
const shortfallOf = ({ goal, load, rate }: Trial, reached: number, begun: number): string[] => {
  if (goal.metric === 'concurrentSessions')
    return reached >= load * reachedShare ? [] : [`${Math.round(reached)} of ${load} were open`];
  if (begun < rate * reachedShare) return [`${Math.round(begun)} of ${Math.round(rate)} were begun`];
  const isCarried = goal.metric !== 'throughputBps' || reached >= load * carriedShare;
  return isCarried ? [] : [`${Math.round(reached)} of ${load} bit/s were carried`];
};

const brokenConditions = ({ goal }: Trial, values: GoalTrial['values']): string[] =>
  goal.while.flatMap((condition, at) => {
    const actual = values[at]?.actual ?? null;
    if (actual !== null && holds({ ...condition, name: '' } as Threshold, actual)) return [];
    const limit = limitText(condition.operator, condition.value);
    return [`${measureText(condition)} is ${actual ?? 'not measured'}, required: ${limit}`];
  });

const tooManyFailed = async (value: ReadMetric, { goal: { maxFailedPct }, plugin }: Trial): Promise<string[]> => {
  if (maxFailedPct === undefined) return [];
  const failed = await failedPctOf(value, plugin);
  if (failed !== undefined && failed <= maxFailedPct) return [];
  return [
    `${failed === undefined ? 'failures were not measured' : `${failed.toFixed(4)} % failed`}, at most ${maxFailedPct} % may`,
  ];
};

/** Whether everything held in the seconds of a trial, and what failed if not. */
export const judgeTrial = async (metrics: MetricReader, trial: Trial): Promise<Judgement> => {
  const { goal, load, isRepeat, plugin } = trial;
  const value = trialReader(metrics, trial);
  const begun = (await value('achievedLoad', 'avg')) ?? 0;
  const reached = Math.round((await reachedOf(value, trial)) * 100) / 100;
  const values = await Promise.all(
    goal.while.map(async ({ metric, aggregation }) => ({
      ...{ metric, aggregation, actual: (await value(metric, aggregation)) ?? null },
    })),
  );
  const reasons = [
    ...shortfallOf(trial, reached, begun),
    ...brokenConditions(trial, values),
    ...(await tooManyFailed(value, trial)),
  ];
  const passed = reasons.length === 0;
  // Everything that was begun was carried, but it was less than estimated: that is the load that passed.
  const isLess = passed && !isRepeat && goal.metric === 'throughputBps' && reached < load * reachedShare;
  return {
    ...{ begun, reached, passed, reason: reasons.join('; '), values },
    load: isLess ? Math.round(reached) : load,
    limit: passed ? '' : await limitOf(value),
    bps: Math.round(await bitsOf(value)) || null,
    kpis: await trialKpis(value, plugin),
  };
};

/** The agents themselves, if they were too busy or had no sockets; otherwise the path with the device. */
const limitOf = async (value: ReadMetric): Promise<'generator' | 'path'> => {
  const cpu = (await value('agentCpuPct', 'max')) ?? 0;
  const lag = (await value('agent.loopLagMs', 'max')) ?? 0;
  const socketErrors = (await value('agent.socketErrors', 'sum')) ?? 0;
  return cpu >= busyPct || lag >= longLagMs || socketErrors > 0 ? 'generator' : 'path';
};
