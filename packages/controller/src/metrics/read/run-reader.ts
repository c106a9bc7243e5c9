import type { MetricSeries, MetricSnapshot, MetricValue, RunSummary } from '@rushhour/contract';
import { clockNow } from '../../clock.ts';
import type { Executor } from '../../store/engine/database.ts';
import { hasRollups, type RollupRow, rollupsByAgent, rollupsOf } from '../../store/runs/run-rollups.ts';
import type { By } from '../ingest/collect.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { readSnapshots } from '../ingest/snapshots.ts';
import type { Aggregation } from '../rollup/aggregate.ts';
import { rowsOfAgents, rowsOfAll, unpackTotals, wholeRun } from '../rollup/run-steps.ts';
import { knownMetrics, metricsOfRun, planMetric } from './metric-plan.ts';
import type { TrafficPhase } from './phases.ts';
import { readRolledSeries } from './rolled-series.ts';
import { secondAt } from './run-facts.ts';
import { readSeries } from './series.ts';
import { readSummary, readTotals, readTotalsByAgent, type TotalsOf } from './summary.ts';
import { UnknownMetric } from './unknown-metric.ts';
import { readValue, type ValueQuery } from './value.ts';

export interface SeriesSelection {
  readonly metrics: readonly string[];
  readonly by?: By | undefined;
  /** Milliseconds since 1970. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly step?: number | undefined;
  readonly agg?: Aggregation | undefined;
  readonly bands?: boolean | undefined;
}

export const plansFor = ({ facts, names }: OpenRun, wanted: readonly string[] = metricsOfRun(names)) => {
  const plans = wanted.map((name) => planMetric(name, facts, names));
  const missing = wanted.filter((_, i) => plans[i] === undefined);
  if (missing.length > 0) throw new UnknownMetric(missing, knownMetrics(facts, names));
  return plans.filter((plan) => plan !== undefined);
};

export interface Progress {
  /** The newest second all agents have told of. */
  readonly second: number;
  /** The newest second any agent has told of. */
  readonly newest: number;
  /** Of the run, as last heard. */
  readonly phase: TrafficPhase | undefined;
}

export interface Selection {
  /** Names; everything the run has when left out. */
  readonly metrics?: readonly string[] | undefined;
  readonly by?: By | undefined;
}

/** What runs came to, as the store says: in the thread of the process, or in one for heavy reads. */
export class RunReader {
  readonly #read: Executor;
  readonly #open: (runId: number) => Promise<OpenRun | undefined>;

  constructor(read: Executor, open: (runId: number) => Promise<OpenRun | undefined>) {
    this.#read = read;
    this.#open = open;
  }

  async progressOf(runId: number): Promise<Progress> {
    const run = await this.#open(runId);
    if (run === undefined) return { second: 0, newest: 0, phase: undefined };
    return { second: run.settledSecond(clockNow()), newest: run.newestSecond, phase: run.phases.newest };
  }

  /** What the newest second showed; undefined before the first. */
  async latest(runId: number, { metrics, by = 'total' }: Selection): Promise<MetricSnapshot | undefined> {
    const run = await this.#open(runId);
    if (run === undefined) return undefined;
    const second = run.settledSecond(clockNow());
    const request = { plans: plansFor(run, metrics), by, fromSec: second, toSec: second };
    return (await readSnapshots(this.#read, run, request))[0];
  }

  async series(runId: number, selection: SeriesSelection): Promise<MetricSeries> {
    const { metrics, by = 'total', from, to, step, agg, bands } = selection;
    const run = await this.#open(runId);
    if (run === undefined) return { step: step ?? 1, t: [], series: [] };
    const plans = plansFor(run, metrics);
    const newest = run.newestSecond;
    const fromSec = from === undefined ? 1 : secondAt(run.facts, from);
    const toSec = to === undefined ? newest : Math.min(newest, Math.round((to - run.facts.t0) / 1000));
    const request = { plans, by, fromSec, toSec, step, agg, bands };
    return (await readRolledSeries(this.#read, run, request)) ?? readSeries(this.#read, run, request);
  }

  async summaryOf(runId: number): Promise<RunSummary> {
    const run = await this.#open(runId);
    return run === undefined ? [] : readSummary(this.#read, run);
  }

  async totalsOf(runId: number, of: TotalsOf): Promise<MetricValue[]> {
    const run = await this.#open(runId);
    if (run === undefined) return [];
    const { agentId, metrics } = of;
    const isStored = agentId !== undefined && (await hasRollups(this.#read, runId, wholeRun));
    if (!isStored) return readTotals(this.#read, run, of);
    const [row] = await rollupsOf(this.#read, runId, wholeRun, agentId);
    const totals = row === undefined ? [] : unpackTotals(row.data);
    return metrics === undefined ? totals : totals.filter(({ metric }) => metrics.includes(metric));
  }

  async totalsByAgent(runId: number): Promise<Map<number, MetricValue[]>> {
    const run = await this.#open(runId);
    if (run === undefined) return new Map();
    if (!(await hasRollups(this.#read, runId, wholeRun))) return readTotalsByAgent(this.#read, run);
    const totals = new Map<number, MetricValue[]>();
    for await (const rows of rollupsByAgent(this.#read, runId, wholeRun)) {
      for (const { agentID, data } of rows) {
        const own = unpackTotals(data);
        if (own.length > 0) totals.set(agentID, own);
      }
    }
    return totals;
  }

  async metricsOf(runId: number): Promise<string[]> {
    const run = await this.#open(runId);
    return run === undefined ? [] : metricsOfRun(run.names);
  }

  async value(query: ValueQuery): Promise<number | undefined> {
    const run = await this.#open(query.runId);
    return run && readValue(this.#read, run, query);
  }

  /** Its steps of time, to be stored: of some agents, or of all of them together. */
  async steps(runId: number, agentIds: readonly number[] | undefined): Promise<RollupRow[]> {
    const run = await this.#open(runId);
    if (run === undefined) return [];
    return agentIds === undefined ? rowsOfAll(this.#read, run) : rowsOfAgents(this.#read, run, agentIds);
  }
}
