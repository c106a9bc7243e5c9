import type { MetricSeries } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { hasRollups, type RollupRow, rollupsByAgent, rollupsOf } from '../../store/runs/run-rollups.ts';
import { everyAgent } from '../../store/runs/samples.ts';
import type { Labels } from '../ingest/collect.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { type Aggregation, aggregateOfSteps } from '../rollup/aggregate.ts';
import { HistogramSum } from '../rollup/histogram-sum.ts';
import { type Step, unpackSteps } from '../rollup/packed-steps.ts';
import { agentStepSec, totalStepsSec } from '../rollup/run-steps.ts';
import { timeOf } from './run-facts.ts';
import { aggregationFor, type SeriesRequest, stepFor } from './series.ts';

/** Points of less are made of seconds where they were asked for, even of many agents. */
const fineSec = 5;
/** Minutes of single agents that are read second by second, where no length of points was asked for. */
const maxMinutes = 3000;

/** Whether lines of agents are better made of their seconds. */
const isFine = ({ step, fromSec, toSec }: SeriesRequest, run: OpenRun, minSec: number): boolean =>
  step === undefined ? (run.facts.agents.size * (toSec - fromSec + 1)) / 60 <= maxMinutes : minSec < fineSec;

/** The stored steps that a chart can be made of; undefined where it needs seconds. */
export const storedStepFor = (request: SeriesRequest, run: OpenRun): number | undefined => {
  const { by, step, bands = false } = request;
  if (bands || (by !== 'total' && by !== 'agent')) return undefined;
  const minSec = stepFor(request, run);
  const stored = by === 'agent' ? [agentStepSec] : totalStepsSec.filter((sec) => sec <= minSec);
  if (by === 'agent' && isFine(request, run, minSec)) return undefined;
  return stored.findLast((sec) => step === undefined || step % sec === 0);
};

interface Layout {
  readonly request: SeriesRequest;
  readonly stored: number;
  /** Stored steps in a point. */
  readonly each: number;
  /** The first stored step. */
  readonly first: number;
  readonly points: number;
}

const layoutOf = (request: SeriesRequest, run: OpenRun, stored: number): Layout => {
  const first = Math.floor((request.fromSec - 1) / stored);
  const last = Math.floor((request.toSec - 1) / stored);
  const each = Math.ceil(stepFor(request, run) / stored);
  return { request, stored, each, first, points: Math.max(0, Math.ceil((last - first + 1) / each)) };
};

const scratch = new HistogramSum();
const pointOf = (plan: SeriesRequest['plans'][number], steps: readonly Step[], agg: Aggregation): number | null => {
  scratch.clear();
  for (const { spread } of steps) if (spread !== undefined) scratch.add(spread);
  return aggregateOfSteps(plan, steps, scratch, agg) ?? null;
};

/** Lines of one row; undefined when a metric was not stored by steps. */
const linesOf = ({ data }: RollupRow, labels: Labels, { request, each, first, points }: Layout) => {
  const { plans, agg } = request;
  const found = unpackSteps(data, new Set(plans.map(({ name }) => name)));
  const lines: MetricSeries['series'] = [];
  for (const plan of plans) {
    const steps = found.get(plan.name);
    if (steps === undefined) return undefined;
    const values = Array.from({ length: points }, (_, point) => {
      const from = first + point * each;
      return pointOf(plan, steps.slice(from, from + each), aggregationFor(plan, agg));
    });
    if (values.some((value) => value !== null)) lines.push({ metric: plan.name, labels, values });
  }
  return lines;
};

async function* rowsFor(read: Executor, run: OpenRun, { request, stored }: Layout): AsyncGenerator<RollupRow[]> {
  const { runId } = run.facts;
  if (request.by === 'agent') yield* rollupsByAgent(read, runId, stored);
  else yield await rollupsOf(read, runId, stored, everyAgent);
}

/** A chart from stored steps; undefined where it has to be made of seconds. */
export const readRolledSeries = async (
  read: Executor,
  run: OpenRun,
  request: SeriesRequest,
): Promise<MetricSeries | undefined> => {
  const stored = storedStepFor(request, run);
  if (stored === undefined || !(await hasRollups(read, run.facts.runId, stored))) return undefined;
  const layout = layoutOf(request, run, stored);
  const series: MetricSeries['series'] = [];
  for await (const rows of rowsFor(read, run, layout)) {
    for (const row of rows) {
      const { name = '' } = run.facts.agents.get(row.agentID) ?? {};
      const labels: Labels = row.agentID === everyAgent ? {} : { agent: name, agentID: String(row.agentID) };
      const lines = linesOf(row, labels, layout);
      if (lines === undefined) return undefined;
      series.push(...lines);
    }
  }
  const { each, first, points } = layout;
  const t = Array.from({ length: points }, (_, point) =>
    timeOf(run.facts, Math.min(request.toSec, (first + (point + 1) * each) * stored)),
  );
  return { step: each * stored, t, series };
};
