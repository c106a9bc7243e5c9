import type { GoalTrial, GoalValues, Threshold } from '@rushhour/contract';
import { holds, type MetricReader } from '../verdict/thresholds.ts';

/** A load counts as reached from this share on. */
const reachedShare = 0.95;
const busyPct = 90;
/** A generator that was away for so long did not keep its schedule. */
const longLagMs = 250;

interface Trial {
  readonly runId: number;
  readonly index: number;
  readonly goal: GoalValues;
  readonly load: number;
  readonly fromSec: number;
  readonly toSec: number;
}

type Judgement = Pick<GoalTrial, 'reached' | 'passed' | 'bps' | 'limit' | 'reason' | 'values'>;

/** Whether everything held in the seconds of a trial, and what failed if not. */
export const judgeTrial = async (metrics: MetricReader, trial: Trial): Promise<Judgement> => {
  const { runId, index, goal, load, fromSec, toSec } = trial;
  const value = (metric: string, aggregation: Threshold['aggregation']) =>
    metrics.value({ runId, metric, aggregation, scope: { configurationIndex: index }, window: { fromSec, toSec } });
  const reached = (await value('achievedLoad', 'avg')) ?? 0;
  const values = await Promise.all(
    goal.while.map(async ({ metric, aggregation }) => ({
      ...{ metric, aggregation, actual: (await value(metric, aggregation)) ?? null },
    })),
  );
  const broken = goal.while.flatMap((condition, at) => {
    const actual = values[at]?.actual ?? null;
    if (actual !== null && holds({ ...condition, name: '' } as Threshold, actual)) return [];
    const { metric, aggregation, operator, value: wanted } = condition;
    return [`${aggregation} of ${metric} is ${actual ?? 'not measured'}, must be ${operator} ${wanted}`];
  });
  const isReached = reached >= load * reachedShare;
  const reasons = [...(isReached ? [] : [`${Math.round(reached)} of ${load} were begun`]), ...broken];
  const passed = reasons.length === 0;
  const limit = passed ? ('' as const) : await limitOf(value);
  const bps = Math.round(((await value('rxBps', 'avg')) ?? 0) + ((await value('txBps', 'avg')) ?? 0)) || null;
  return { reached: Math.round(reached * 100) / 100, passed, bps, limit, reason: reasons.join('; '), values };
};

type Read = (metric: string, aggregation: Threshold['aggregation']) => ReturnType<MetricReader['value']>;

/** The agents themselves, if they were too busy or had no sockets; otherwise the path with the device. */
const limitOf = async (value: Read): Promise<'generator' | 'path'> => {
  const cpu = (await value('agentCpuPct', 'max')) ?? 0;
  const lag = (await value('agent.loopLagMs', 'max')) ?? 0;
  const socketErrors = (await value('agent.socketErrors', 'sum')) ?? 0;
  return cpu >= busyPct || lag >= longLagMs || socketErrors > 0 ? 'generator' : 'path';
};
