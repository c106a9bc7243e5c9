import type { MetricSeries, MetricSnapshot, MetricValue, RunSummary } from '@rushhour/contract';
import type { Phase } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { AgentGateway } from '../agents/gateway.ts';
import type { Store } from '../store/index.ts';
import { runAgentsOf } from '../store/run-agents.ts';
import type { Aggregation } from './aggregate.ts';
import type { By } from './collect.ts';
import { createIngest, type IsCurrent } from './ingest.ts';
import { knownMetrics, metricsOfRun, planMetric } from './metric-plan.ts';
import type { OpenRun } from './open-run.ts';
import { createOpenRuns } from './open-runs.ts';
import { secondAt } from './run-facts.ts';
import { readSeries } from './series.ts';
import { readSnapshots } from './snapshots.ts';
import { readSummary, readTotals } from './summary.ts';
import { createTurns } from './turns.ts';
import { startUpkeep } from './upkeep.ts';
import { readValue, type ValueQuery } from './value.ts';

export interface MetricsOptions {
  store: Store;
  gateway: AgentGateway;
  log: Logger;
  isCurrent?: IsCurrent;
}

export interface Selection {
  /** Names; everything the run has when left out. */
  readonly metrics?: readonly string[] | undefined;
  readonly by?: By | undefined;
}

export interface SeriesSelection {
  readonly metrics: readonly string[];
  readonly by?: By | undefined;
  /** Milliseconds since 1970. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly step?: number | undefined;
  readonly agg?: Aggregation | undefined;
}

/** A metric was asked for that neither the run nor its plugins know. */
export class UnknownMetric extends Error {
  override readonly name = 'UnknownMetric';
  readonly metrics: readonly string[];
  readonly known: readonly string[];

  constructor(metrics: readonly string[], known: readonly string[]) {
    super(`no such metric: ${metrics.join(', ')}`);
    this.metrics = metrics;
    this.known = known;
  }
}

const plansFor = ({ facts, names }: OpenRun, wanted: readonly string[] = metricsOfRun(names)) => {
  const plans = wanted.map((name) => planMetric(name, facts, names));
  const missing = wanted.filter((_, i) => plans[i] === undefined);
  if (missing.length > 0) throw new UnknownMetric(missing, knownMetrics(facts, names));
  return plans.filter((plan) => plan !== undefined);
};

export interface Progress {
  readonly second: number;
  readonly newest: number;
  readonly phase: Phase | undefined;
}

type Listener = (second: number) => void;

/** Measurements of runs: takes them in, keeps them, and answers what they show. */
export const createMetrics = ({ store, gateway, log, isCurrent }: MetricsOptions) => {
  const { read } = store;
  const runs = createOpenRuns(read);
  const inTurn = createTurns();
  const listeners = new Map<number, Set<Listener>>();
  /** Latest seconds, computed once for all who watch. */
  const latest = new Map<number, { second: number; found: Map<string, Promise<MetricSnapshot[]>> }>();

  const onStored = (run: OpenRun) => {
    const second = run.settledSecond(Date.now());
    for (const listener of listeners.get(run.facts.runId) ?? []) listener(second);
  };
  const onClosed = (runId: number) => void latest.delete(runId);
  const ingest = createIngest({ store, gateway, log, runs, inTurn, isCurrent, onStored });
  const upkeep = startUpkeep({ store, log, runs, inTurn, onClosed });

  const snapshotsOf = (run: OpenRun, { metrics, by = 'total' }: Selection, fromSec: number, toSec: number) =>
    readSnapshots(read, run, { plans: plansFor(run, metrics), by, fromSec, toSec });

  const sharedSnapshot = (run: OpenRun, selection: Selection, second: number) => {
    const { runId } = run.facts;
    let shared = latest.get(runId);
    if (shared?.second !== second) {
      shared = { second, found: new Map() };
      latest.set(runId, shared);
    }
    const key = JSON.stringify([selection.by ?? 'total', selection.metrics ?? null]);
    const known = shared.found.get(key);
    if (known !== undefined) return known;
    const reading = snapshotsOf(run, selection, second, second);
    shared.found.set(key, reading);
    reading.catch(() => shared.found.delete(key));
    return reading;
  };

  return {
    /** Undefined before the first second. Throws `UnknownMetric`. */
    latest: async (runId: number, selection: Selection = {}): Promise<MetricSnapshot | undefined> => {
      const run = await runs.open(runId);
      if (run === undefined) return undefined;
      return (await sharedSnapshot(run, selection, run.settledSecond(Date.now())))[0];
    },

    /** What each of some seconds showed, oldest first. The newest one is computed once for all who ask. */
    snapshots: async (
      runId: number,
      { fromSec, toSec, ...selection }: Selection & { fromSec: number; toSec: number },
    ): Promise<MetricSnapshot[]> => {
      const run = await runs.open(runId);
      if (run === undefined) return [];
      if (fromSec === toSec) return sharedSnapshot(run, selection, toSec);
      return snapshotsOf(run, selection, fromSec, toSec);
    },

    /** At most 2,000 points; without data none. Throws `UnknownMetric`. */
    series: async (runId: number, selection: SeriesSelection): Promise<MetricSeries> => {
      const run = await runs.open(runId);
      if (run === undefined) return { step: selection.step ?? 1, t: [], series: [] };
      const { metrics, by = 'total', from, to, step, agg } = selection;
      const plans = plansFor(run, metrics);
      const fromSec = from === undefined ? 1 : secondAt(run.facts, from);
      const newest = run.newestSecond;
      const toSec = to === undefined ? newest : Math.min(newest, Math.round((to - run.facts.t0) / 1000));
      return readSeries(read, run, { plans, by, fromSec, toSec, step, agg });
    },

    /** What the run came to, by configuration entry and side. */
    summaryOf: async (runId: number): Promise<RunSummary> => {
      await ingest.flush();
      const run = await runs.open(runId);
      return run === undefined ? [] : readSummary(read, run);
    },

    /** What the run, or one of its agents, came to, all entries together. */
    totalsOf: async (runId: number, agentId?: number): Promise<MetricValue[]> => {
      const run = await runs.open(runId);
      return run === undefined ? [] : readTotals(read, run, agentId === undefined ? {} : { agentId });
    },

    /** One number, such as a threshold needs; undefined when there is nothing to compute it from. */
    value: async (query: ValueQuery): Promise<number | undefined> => {
      const run = await runs.open(query.runId);
      return run === undefined ? undefined : readValue(read, run, query);
    },

    /** Every summary up to the last one of each order that has ended is stored. */
    samplesComplete: async (runId: number): Promise<boolean> => {
      await ingest.flush();
      const run = await runs.open(runId);
      const agents = await runAgentsOf(read, runId);
      return agents.every(({ agentID, orders }) =>
        orders.every(({ outcome }, order) => {
          const lastSeq = outcome?.lastSeq ?? 0;
          return lastSeq === 0 || run?.streamOf(agentID, order)?.ranges.hasAll(1, lastSeq) === true;
        }),
      );
    },

    /** The newest second all agents have told of, the newest any has told of, and the phase of the run then. */
    progressOf: async (runId: number): Promise<Progress> => {
      const run = await runs.open(runId);
      if (run === undefined) return { second: 0, newest: 0, phase: undefined };
      return { second: run.settledSecond(Date.now()), newest: run.newestSecond, phase: run.phases.newest };
    },

    /** Tells of each new second of a run. Returns the function that ends the subscription. */
    subscribe: (runId: number, listener: Listener): (() => void) => {
      const own = listeners.get(runId) ?? new Set();
      listeners.set(runId, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0) listeners.delete(runId);
      };
    },

    /** Brings everything of a run into its final form at once; otherwise it happens by and by. */
    finish: async (runId: number) => {
      await ingest.flush();
      await upkeep.finish(runId);
    },
    /** What has arrived is on disk. */
    flush: ingest.flush,
    close: async () => {
      await ingest.close();
      await upkeep.close();
    },
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
