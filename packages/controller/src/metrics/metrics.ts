import type { MetricSeries, MetricSnapshot, MetricValue, RunSummary } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { AgentGateway } from '../agents/gateway/gateway.ts';
import type { PeerRuns } from '../agents/gateway/peers/peer-runs.ts';
import { clockNow } from '../clock.ts';
import { createMutex } from '../concurrency/mutex.ts';
import type { Executor } from '../store/engine/database.ts';
import { runAgentsOf } from '../store/runs/run-agents.ts';
import { hasManySamples } from '../store/runs/run-rollups.ts';
import type { Store } from '../store/store.ts';
import { type AssertMayIngest, Ingest, type IsCurrent } from './ingest/ingest.ts';
import type { OpenRun } from './ingest/open-run.ts';
import { createOpenRuns, type OpenRuns } from './ingest/open-runs.ts';
import { readSnapshots } from './ingest/snapshots.ts';
import { ReadThread } from './read/read-thread.ts';
import { type Progress, plansFor, RunReader, type Selection, type SeriesSelection } from './read/run-reader.ts';
import type { TotalsOf } from './read/summary.ts';
import type { ValueQuery } from './read/value.ts';
import { createStepsStore } from './rollup/store-steps.ts';
import { startUpkeep, type Upkeep } from './rollup/upkeep.ts';

export interface MetricsOptions {
  store: Store;
  gateway: AgentGateway;
  log: Logger;
  isCurrent?: IsCurrent;
  assertMayIngest?: AssertMayIngest;
  /** Where several controllers may share the database. */
  peers?: PeerRuns | undefined;
  /** Runs with more rows of samples are read in a thread; a minute of one agent is a row once a run has ended. */
  longRows?: number;
}

type Listener = (second: number) => void;

/** Starting a thread takes longer than to read less. */
const defaultLongRows = 600;
const recountMs = 2000;
const maxLengths = 10_000;
/** So often it is looked whether other controllers have stored what is missing. */
const catchUpMs = 2000;

/** Latest seconds, computed once for all who watch. */
interface Shared {
  readonly second: number;
  readonly found: Map<string, Promise<MetricSnapshot[]>>;
}

/** Measurements of runs: takes them in, keeps them, and answers what they show. */
export class Metrics {
  readonly #read: Executor;
  readonly #runs: OpenRuns;
  readonly #ingest: Ingest;
  readonly #upkeep: Upkeep;
  readonly #reader: RunReader;
  readonly #thread: ReadThread;
  /** Makes the steps of ended runs, so that readers do not wait for it. */
  readonly #maker: ReadThread;
  readonly #steps: ReturnType<typeof createStepsStore>;
  readonly #longRows: number;
  /** Whether runs are so long that they are read in the thread, as last counted. */
  readonly #lengths = new Map<number, { isLong: boolean; at: number }>();
  readonly #listeners = new Map<number, Set<Listener>>();
  readonly #shared = new Map<number, Shared>();
  readonly #peers: PeerRuns | undefined;
  #caughtUpAt = Number.NEGATIVE_INFINITY;

  constructor(options: MetricsOptions) {
    const { store, gateway, log, isCurrent, assertMayIngest, peers, longRows = defaultLongRows } = options;
    this.#peers = peers;
    this.#longRows = longRows;
    this.#read = store.read;
    this.#runs = createOpenRuns(store.read);
    const parts = { store, log, runs: this.#runs, exclusively: createMutex() };
    const checks = { isCurrent, ...(assertMayIngest && { assertMayIngest }) };
    this.#ingest = new Ingest({ ...parts, ...checks, gateway, peers, onStored: (run) => this.#publish(run) });
    this.#reader = new RunReader(store.read, this.#runs.open);
    this.#thread = new ReadThread(store.location);
    this.#maker = new ReadThread(store.location);
    this.#steps = createStepsStore({
      store,
      log,
      steps: (runId, agentIds) => this.#maker.ask('steps', runId, agentIds),
    });
    this.#upkeep = startUpkeep({
      ...parts,
      onClosed: (runId) => this.#closed(runId),
      beforeFinish: async (runId) => void (peers && (await this.#ingest.catchUp(runId))),
      onFinished: (id) => this.#keep(id),
    });
  }

  /** Undefined before the first second. Throws `UnknownMetric`. */
  async latest(runId: number, selection: Selection = {}): Promise<MetricSnapshot | undefined> {
    if (await this.#isForThread(runId)) return this.#thread.ask('latest', runId, selection);
    const run = await this.#runs.open(runId);
    return run && (await this.#sharedSnapshot(run, selection, run.settledSecond(clockNow())))[0];
  }

  /** What each of some seconds showed, oldest first. One that many ask for is computed once. */
  async snapshots(
    runId: number,
    { fromSec, toSec, ...selection }: Selection & { fromSec: number; toSec: number },
  ): Promise<MetricSnapshot[]> {
    const run = await this.#runs.open(runId);
    if (run === undefined) return [];
    if (fromSec === toSec) return this.#sharedSnapshot(run, selection, toSec);
    return this.#snapshots(run, selection, fromSec, toSec);
  }

  /** At most 2,000 points; without data none. Throws `UnknownMetric`. */
  async series(runId: number, selection: SeriesSelection): Promise<MetricSeries> {
    const { by = 'total' } = selection;
    const isOfAgents = by === 'agent' || by === 'job' || by === 'target';
    return (await this.#isForThread(runId, isOfAgents))
      ? this.#thread.ask('series', runId, selection)
      : this.#reader.series(runId, selection);
  }

  /** What the run came to, by configuration entry and side. */
  async summaryOf(runId: number): Promise<RunSummary> {
    await this.#ingest.flush();
    return (await this.#isForThread(runId)) ? this.#thread.ask('summaryOf', runId) : this.#reader.summaryOf(runId);
  }

  /** What the run, or one of its agents, came to, all entries together. */
  async totalsOf(runId: number, of: TotalsOf = {}): Promise<MetricValue[]> {
    const isOfAgent = of.agentId !== undefined;
    return (await this.#isForThread(runId, isOfAgent))
      ? this.#thread.ask('totalsOf', runId, of)
      : this.#reader.totalsOf(runId, of);
  }

  /** What each agent of the run came to; agents that reported nothing are left out. */
  async totalsByAgent(runId: number): Promise<Map<number, MetricValue[]>> {
    return (await this.#isForThread(runId, true))
      ? this.#thread.ask('totalsByAgent', runId)
      : this.#reader.totalsByAgent(runId);
  }

  /** The names of everything the run has, common metrics first. */
  async metricsOf(runId: number): Promise<string[]> {
    return (await this.#isForThread(runId)) ? this.#thread.ask('metricsOf', runId) : this.#reader.metricsOf(runId);
  }

  /** One number, such as a threshold needs; undefined when there is nothing to compute it from. */
  async value(query: ValueQuery): Promise<number | undefined> {
    const isOfAgent = query.scope.agentID !== undefined;
    return (await this.#isForThread(query.runId, isOfAgent))
      ? this.#thread.ask('value', query)
      : this.#reader.value(query);
  }

  /** Seconds that agents measured and that are not stored yet, by agent; of several jobs, the one that misses most. */
  async missingSeconds(runId: number): Promise<Map<number, number>> {
    await this.#ingest.flush();
    const missing = await this.#missingSeconds(runId);
    const isDue = this.#peers?.hasPeers && performance.now() - this.#caughtUpAt > catchUpMs;
    if (missing.size === 0 || !isDue) return missing;
    this.#caughtUpAt = performance.now();
    return (await this.#ingest.catchUp(runId)) ? this.#missingSeconds(runId) : missing;
  }

  async #missingSeconds(runId: number): Promise<Map<number, number>> {
    const run = await this.#runs.open(runId);
    const agents = await runAgentsOf(this.#read, runId);
    const missing = agents.map(({ agentID, orders }): [number, number] => {
      const byJob = orders.map(({ outcome }, jobIndex) => {
        const lastSeq = outcome?.lastSeq ?? 0;
        return run?.streamOf(agentID, jobIndex)?.ranges.missingUpTo(lastSeq) ?? lastSeq;
      });
      return [agentID, Math.max(0, ...byJob)];
    });
    return new Map(missing.filter(([, seconds]) => seconds > 0));
  }

  async progressOf(runId: number): Promise<Progress> {
    return (await this.#isForThread(runId)) ? this.#thread.ask('progressOf', runId) : this.#reader.progressOf(runId);
  }

  /** Tells of each new second of a run. Returns the function that ends the subscription. */
  subscribe(runId: number, listener: Listener): () => void {
    const own = this.#listeners.get(runId) ?? new Set();
    this.#listeners.set(runId, own.add(listener));
    return () => {
      own.delete(listener);
      if (own.size === 0) this.#listeners.delete(runId);
    };
  }

  /** How far the disk is behind what agents report. */
  ingestState() {
    return this.#ingest.state();
  }

  /** Another controller takes in what agents measure from now on, or did so before. */
  forget(runIds: readonly number[]): void {
    for (const id of runIds) this.#runs.forget(id);
  }

  /** What has arrived is on disk. */
  flush(): Promise<void> {
    return this.#ingest.flush();
  }

  /** Brings everything of a run into its final form at once; otherwise it happens by and by. */
  async finish(runId: number): Promise<void> {
    await this.#ingest.flush();
    await this.#upkeep.finish(runId);
  }

  async close(): Promise<void> {
    await this.#ingest.close();
    this.#steps.close();
    await this.#upkeep.close();
    await Promise.all([this.#thread.close(), this.#maker.close()]);
    await this.#steps.idle();
  }

  /** The stored steps of ended long runs are whole. */
  stepsStored(): Promise<void> {
    return this.#steps.idle();
  }

  /**
   * Long runs are read in the thread, so that others are answered meanwhile. What is in memory is read here, because the store knows
   * its last minute only agent by agent.
   */
  async #isForThread(runId: number, isOfAgents = false): Promise<boolean> {
    if (!isOfAgents && this.#runs.find(runId)?.isOurs) return false;
    const known = this.#lengths.get(runId);
    const now = performance.now();
    if (known !== undefined && (known.isLong || now - known.at < recountMs)) return known.isLong;
    const isLong = await hasManySamples(this.#read, runId, this.#longRows);
    this.#lengths.set(runId, { isLong, at: now });
    for (const oldest of this.#lengths.keys()) if (this.#lengths.size > maxLengths) this.#lengths.delete(oldest);
    return isLong;
  }

  #closed(runId: number): void {
    this.#shared.delete(runId);
  }

  async #keep(runId: number): Promise<void> {
    if (await this.#isForThread(runId, true)) this.#steps.request(runId);
  }

  #publish(run: OpenRun): void {
    const second = run.settledSecond(clockNow());
    for (const listener of this.#listeners.get(run.facts.runId) ?? []) listener(second);
  }

  #snapshots(run: OpenRun, { metrics, by = 'total' }: Selection, fromSec: number, toSec: number) {
    return readSnapshots(this.#read, run, { plans: plansFor(run, metrics), by, fromSec, toSec });
  }

  async #sharedSnapshot(run: OpenRun, selection: Selection, second: number): Promise<MetricSnapshot[]> {
    const { runId } = run.facts;
    let shared = this.#shared.get(runId);
    if (shared?.second !== second) {
      shared = { second, found: new Map() };
      this.#shared.set(runId, shared);
    }
    const { found } = shared;
    const key = JSON.stringify([selection.by ?? 'total', selection.metrics ?? null]);
    const known = found.get(key);
    if (known !== undefined) return known;
    const reading = this.#snapshots(run, selection, second, second);
    found.set(key, reading);
    reading.catch(() => found.delete(key));
    return reading;
  }
}

export const createMetrics = (options: MetricsOptions) => new Metrics(options);
