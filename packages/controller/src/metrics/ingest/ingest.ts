import type { Logger } from 'pino';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { clockNow } from '../../clock.ts';
import type { Mutex } from '../../concurrency/mutex.ts';
import { type Executor, StorageUnavailable } from '../../store/engine/database.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { insertRunRecords } from '../../store/runs/run-attempts.ts';
import { sealKeyRows } from '../../store/runs/run-keys.ts';
import { removeRollups } from '../../store/runs/run-rollups.ts';
import { putRunRows } from '../../store/runs/run-rows.ts';
import { everyAgent, insertRunNames, insertSamples, removeSamplesIn } from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { readLimits, secondOf } from '../read/run-facts.ts';
import { firstOfMinute, lastOfMinute, minuteOf } from '../rollup/merged-minutes.ts';
import { RunArrivals, type SummariesReport } from './arrivals.ts';
import { blockOf, type OpenRun } from './open-run.ts';
import { type OpenRuns, readMergedMinute } from './open-runs.ts';

/** Whether what an agent says about a run still counts: the run goes on, and the agent has its newest assignment. */
export type IsCurrent = (runId: number, epoch: number, agentId: number) => boolean | Promise<boolean>;

/** Throws when another controller takes in what is measured in the run. */
export type AssertMayIngest = (tx: Executor, runId: number) => Promise<void>;

export interface IngestOptions {
  store: Store;
  gateway: AgentGateway;
  log: Logger;
  runs: OpenRuns;
  exclusively: Mutex;
  /** The newest assignment of the run is asked of the store when left out. */
  isCurrent?: IsCurrent | undefined;
  assertMayIngest?: AssertMayIngest;
  /** Called after new seconds of a run are on disk and in memory. */
  onStored(run: OpenRun): void;
}

interface Report {
  agentId: number;
  report: SummariesReport;
}

/** How far the clocks of agents may be off. */
const maxOffMs = 60_000;

const batchMs = 100;
const retryMs = 1000;
/** Reports that wait for the disk. What goes beyond is not kept: agents send again what was not acknowledged. */
const maxWaiting = 100_000;

/** What a run needs written, with the merged minutes that late seconds make necessary to open again. */
interface Writing {
  arrivals: RunArrivals;
  reopened: Map<number, Awaited<ReturnType<typeof readMergedMinute>>>;
}

/**
 * Takes in what agents measured. All that arrives within a moment is one transaction; only what is on disk is
 * acknowledged, and only up to the first gap, so that an agent sends again what is missing.
 */
export class Ingest {
  readonly #options: IngestOptions;
  readonly #unsubscribe: () => void;
  #waiting: Report[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** When the oldest report that waits arrived. */
  #waitingSince: number | undefined;
  #lastLagMs = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#unsubscribe = options.gateway.subscribe({
      report: (agentId, report) => {
        if (report.type !== 'summaries' || this.#waiting.length >= maxWaiting) return;
        this.#waitingSince ??= performance.now();
        this.#waiting.push({ agentId, report });
        this.#schedule(batchMs);
      },
    });
  }

  /** Everything that has arrived is on disk, unless the database cannot be reached. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const taken = this.#waiting;
    const since = this.#waitingSince;
    this.#waiting = [];
    try {
      await this.#options.exclusively(async () => taken.length > 0 && this.#store(taken));
      this.#settleLag(since);
    } catch (error) {
      this.#options.log.error({ err: error, reports: taken.length }, 'measurements wait for the database');
      this.#waiting = [...taken, ...this.#waiting].slice(0, maxWaiting);
      this.#schedule(retryMs);
    }
    if (this.#waiting.length > 0) this.#schedule(batchMs / 2);
  }

  /** Reports that wait, and how long the oldest has waited; with none, how long the last ones took to reach the disk. */
  state(): { waiting: number; lagSec: number } {
    const lagMs = this.#waitingSince === undefined ? this.#lastLagMs : performance.now() - this.#waitingSince;
    return { waiting: this.#waiting.length, lagSec: lagMs / 1000 };
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#isClosed = true;
    await this.flush();
  }

  #settleLag(since: number | undefined): void {
    if (since === undefined) return;
    this.#lastLagMs = performance.now() - since;
    if (this.#waitingSince === since) this.#waitingSince = this.#waiting.length > 0 ? performance.now() : undefined;
  }

  #schedule(ms: number): void {
    if (this.#timer === undefined && !this.#isClosed) this.#timer = setTimeout(() => void this.flush(), ms);
  }

  async #store(reports: readonly Report[]): Promise<void> {
    const { store, gateway, onStored } = this.#options;
    const writings = await Promise.all((await this.#sortOut(reports)).map((arrivals) => prepare(store, arrivals)));
    for (const writing of await this.#writeAll(writings)) {
      settle(writing);
      acknowledge(gateway, writing.arrivals);
      onStored(writing.arrivals.run);
    }
  }

  async #sortOut(reports: readonly Report[]): Promise<RunArrivals[]> {
    const { log, isCurrent = () => true } = this.#options;
    const byRun = new Map<number, RunArrivals>();
    for (const { agentId, report } of reports) {
      const { runId, epoch, order, summaries } = report;
      if (!(await isCurrent(runId, epoch, agentId))) continue;
      const run = byRun.get(runId)?.run ?? (await this.#open(runId, epoch));
      const stream = run?.facts.epoch === epoch ? run.streamOf(agentId, order) : undefined;
      if (run === undefined || stream === undefined) {
        log.warn({ runId, agentID: agentId, order }, 'measurements of a job that the run does not know');
        continue;
      }
      const arrivals = byRun.get(runId) ?? (await this.#newArrivals(run));
      byRun.set(runId, arrivals);
      const refused = arrivals.add(stream, summaries);
      if (refused > 0) log.warn({ runId, agentID: agentId, order, refused }, 'measurements that make no sense');
    }
    // In the same order at all times, so that transactions never wait for each other.
    return [...byRun.values()].sort((a, b) => a.run.facts.runId - b.run.facts.runId);
  }

  async #newArrivals(run: OpenRun): Promise<RunArrivals> {
    const { runId, t0 } = run.facts;
    const { lastMs, isOver } = await readLimits(this.#options.store.read, runId);
    return new RunArrivals(run, { from: t0 - maxOffMs, to: Math.min(clockNow() + maxOffMs, lastMs) }, isOver);
  }

  /** A run that was assigned anew since it was opened is read again. */
  async #open(runId: number, epoch: number): Promise<OpenRun | undefined> {
    const { runs } = this.#options;
    const run = await runs.open(runId);
    if (run === undefined || run.facts.epoch === epoch) return run;
    runs.forget(runId);
    return runs.open(runId);
  }

  /** One transaction for all; if it fails for one of them, each has its own. */
  async #writeAll(writings: readonly Writing[]): Promise<Writing[]> {
    const { store, log, runs, assertMayIngest } = this.#options;
    try {
      await store.database.transaction(async (tx) => {
        for (const writing of writings) await assertMayIngest?.(tx, writing.arrivals.run.facts.runId);
        for (const writing of writings) await write(tx, store.secrets, writing);
      });
      return [...writings];
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      const written: Writing[] = [];
      if (writings.length > 1) {
        for (const one of writings) written.push(...(await this.#writeAll([one])));
        return written;
      }
      const runId = writings[0]?.arrivals.run.facts.runId ?? 0;
      log.error({ err: error, runId }, 'measurements of a run were not written');
      runs.forget(runId);
      return written;
    }
  }
}

const write = async (tx: Executor, secrets: Secrets, { arrivals, reopened }: Writing) => {
  const { facts, names } = arrivals.run;
  await insertRunNames(
    tx,
    names.fresh.map((fresh) => ({ runID: facts.runId, ...fresh })),
  );
  for (const minute of reopened.keys()) {
    const span = { fromSeq: firstOfMinute(minute), toSeq: lastOfMinute(minute) };
    for (const orderIndex of facts.sides.keys()) {
      await removeSamplesIn(tx, { runID: facts.runId, agentID: everyAgent, orderIndex, ...span });
    }
  }
  if (arrivals.areLate) await removeRollups(tx, facts.runId);
  await insertSamples(tx, arrivals.rows);
  await insertRunRecords(tx, arrivals.records);
  await putRunRows(tx, sealKeyRows(secrets, arrivals.tableRows));
};

/** Reads the merged minutes that late seconds belong to. */
const prepare = async ({ read }: Store, arrivals: RunArrivals): Promise<Writing> => {
  const { run } = arrivals;
  const reopened: Writing['reopened'] = new Map();
  for (const stream of arrivals.streams) {
    for (const second of arrivals.secondsOf(stream)) {
      if (!run.isRolled(second)) continue;
      const minute = minuteOf(secondOf(run.facts, second));
      if (!reopened.has(minute)) reopened.set(minute, await readMergedMinute(read, run, minute));
    }
  }
  return { arrivals, reopened };
};

/** Makes memory follow what is on disk now. */
const settle = ({ arrivals, reopened }: Writing) => {
  const { run } = arrivals;
  run.names.settle();
  for (const [minute, cells] of reopened) {
    run.rolled.delete(minute);
    run.reopenings += 1;
    for (const { group, second, cell } of cells) run.merged.put(group, second, cell);
  }
  const now = clockNow();
  run.usedAt = now;
  run.isOurs = true;
  for (const stream of arrivals.streams) {
    stream.arrivedAt = now;
    for (const second of arrivals.secondsOf(stream)) {
      stream.ranges.add(second.seq);
      stream.loose.add(blockOf(second.seq));
      run.take(stream, second);
    }
  }
};

const acknowledge = (gateway: AgentGateway, { run, streams }: RunArrivals) => {
  for (const { agentId, order, ranges } of streams) {
    const { runId, epoch } = run.facts;
    gateway.send(agentId, { type: 'acknowledge', runId, epoch, order, seq: ranges.contiguous });
  }
};
