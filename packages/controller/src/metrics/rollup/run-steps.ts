import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { MetricValue } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import type { RollupRow } from '../../store/runs/run-rollups.ts';
import { everyAgent } from '../../store/runs/samples.ts';
import { type AggregationWindow, SteppedSpread } from '../ingest/aggregation-window.ts';
import { collectWindows } from '../ingest/collect.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { metricsOfRun, planMetric } from '../read/metric-plan.ts';
import { readTotals } from '../read/summary.ts';
import { minSpanSec, secondsOf } from './aggregate.ts';
import { mergedHistogram } from './histogram-sum.ts';
import { packSteps, type Step } from './packed-steps.ts';

/** Of all agents together; of each agent only the last. Seconds are stored themselves. */
export const totalStepsSec = [10, 60] as const;
export const agentStepSec = 60;
/** Stands for all the time of a run. */
export const wholeRun = 0;

/** All seconds of a track by steps. A last step that is too short for a rate belongs to the one before it. */
const stepsOf = (window: AggregationWindow<SteppedSpread>, index: number, stepSec: number): Step[] => {
  const plan = window.plans[index];
  const track = window.trackOf(index);
  if (plan === undefined) return [];
  let count = Math.ceil(track.spans.length / stepSec);
  const lastSpan = secondsOf(plan, track, [(count - 1) * stepSec, track.spans.length]).spanSec;
  if (count > 1 && lastSpan < minSpanSec) count -= 1;
  return Array.from({ length: count }, (_, step) => {
    const isLast = step === count - 1;
    const end = isLast ? track.spans.length : (step + 1) * stepSec;
    const { values, sum, spanSec } = secondsOf(plan, track, [step * stepSec, end]);
    const spreads = track.spread.steps
      .slice(step, isLast ? undefined : step + 1)
      .filter((bytes) => bytes !== undefined);
    return {
      ...{ spanSec, sum, count: values.length, last: values.at(-1) ?? 0 },
      min: values.reduce((min, value) => Math.min(min, value), values[0] ?? 0),
      max: values.reduce((max, value) => Math.max(max, value), values[0] ?? 0),
      spread: spreads.length > 1 ? mergedHistogram(spreads) : spreads[0],
    };
  });
};

/** One row for a step; of one agent, or of all together. */
const rowFor = async (read: Executor, run: OpenRun, stepSec: number, agentId?: number): Promise<RollupRow> => {
  const steps = new Map<string, Step[]>();
  const plans = metricsOfRun(run.names).flatMap((name) => planMetric(name, run.facts, run.names) ?? []);
  const createSpread = () => new SteppedSpread((second) => Math.floor((second - 1) / stepSec));
  const what = { plans, by: 'total', fromSec: 1, toSec: run.newestSecond, createSpread, agentId } as const;
  await collectWindows(read, run, what, (_labels, window) => {
    for (const [index, { name }] of plans.entries()) steps.set(name, stepsOf(window, index, stepSec));
  });
  const key = { runID: run.facts.runId, stepSec, agentID: agentId ?? everyAgent, fromSec: 1 };
  return { ...key, data: packSteps(steps) };
};

/** What some agents did and came to. */
export const rowsOfAgents = async (read: Executor, run: OpenRun, agentIds: readonly number[]): Promise<RollupRow[]> => {
  const rows: RollupRow[] = [];
  for (const agentID of agentIds) {
    const totals = await readTotals(read, run, { agentId: agentID });
    rows.push(await rowFor(read, run, agentStepSec, agentID));
    rows.push({ runID: run.facts.runId, stepSec: wholeRun, agentID, fromSec: 1, data: packTotals(totals) });
  }
  return rows;
};

/** What all agents did together. */
export const rowsOfAll = async (read: Executor, run: OpenRun): Promise<RollupRow[]> => {
  const rows: RollupRow[] = [];
  for (const stepSec of totalStepsSec) rows.push(await rowFor(read, run, stepSec));
  const { runId } = run.facts;
  return [...rows, { runID: runId, stepSec: wholeRun, agentID: everyAgent, fromSec: 1, data: packTotals([]) }];
};

const packTotals = (totals: readonly MetricValue[]): Uint8Array => zstdCompressSync(JSON.stringify(totals));
export const unpackTotals = (data: Uint8Array): MetricValue[] => JSON.parse(zstdDecompressSync(data).toString());
