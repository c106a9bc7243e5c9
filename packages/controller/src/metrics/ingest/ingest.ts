import type { Logger } from 'pino';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import type { PeerRuns, StoredSeconds } from '../../agents/gateway/peers/peer-runs.ts';
import type { Mutex } from '../../concurrency/mutex.ts';
import { type Executor, StorageUnavailable } from '../../store/engine/database.ts';
import { runNamesOf, sampleKeysOfAgents } from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { AgentClaims, AgentsMoved } from './agent-claims.ts';
import type { RunArrivals } from './arrivals.ts';
import { HomeIngest, type Report } from './home-ingest.ts';
import { NameBook } from './name-book.ts';
import type { OpenRun } from './open-run.ts';
import type { OpenRuns } from './open-runs.ts';
import { packedOf, unpackSeconds } from './packing.ts';
import { readMissed } from './read-missed.ts';
import {
  acknowledge,
  needsWrite,
  newArrivals,
  prepareWriting,
  settle,
  shareNames,
  type Writing,
  write,
} from './writing.ts';

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
  /** Where several controllers may share the database. */
  peers?: PeerRuns | undefined;
  /** Called after new seconds of a run are on disk and in memory. */
  onStored(run: OpenRun): void;
}

const batchMs = 100;
const retryMs = 1000;
/** Reports that wait for the disk. What goes beyond is not kept: agents send again what was not acknowledged. */
const maxWaiting = 100_000;

/** What is to be taken in at once. */
interface Batch {
  readonly reports: readonly Report[];
  /** What other controllers stored. */
  readonly stored: readonly StoredSeconds[];
}

/** The parts that exist where several controllers may share the database. */
const createShared = (options: IngestOptions, onUntold: (runId: number) => void) => {
  const { store, gateway, peers } = options;
  if (peers === undefined) return undefined;
  const claims = new AgentClaims(store.database, peers.id);
  return { peers, claims, home: new HomeIngest({ store, gateway, peers, claims, onUntold }) };
};

/**
 * Takes in what agents measured. All that arrives within a moment is one transaction; only what is on disk is
 * acknowledged, and only up to the first gap, so that an agent sends again what is missing. Of runs that another controller
 * conducts it stores what the agents of this one measured.
 */
export class Ingest {
  readonly #options: IngestOptions;
  readonly #shared: ReturnType<typeof createShared>;
  readonly #unsubscribe: () => void;
  #waiting: Report[] = [];
  #stored: StoredSeconds[] = [];
  /** Runs of which the store knows more than the memory. */
  readonly #behind = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** When the oldest report that waits arrived. */
  #waitingSince: number | undefined;
  #lastLagMs = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.#shared = createShared(options, (runId) => this.#behind.add(runId));
    this.#unsubscribe = options.gateway.subscribe({
      connected: (agentId) => this.#shared?.claims.drop(agentId),
      // Without seconds it only shows that the agent is at work.
      report: (agentId, report) => {
        if (report.type === 'summaries' && report.summaries.length > 0) this.#accept({ agentId, report });
      },
    });
    options.peers?.listen({
      measured: (agentId, report) => this.#accept({ agentId, report }),
      stored: (seconds) => {
        if (this.#stored.length < maxWaiting) this.#stored.push(seconds);
        this.#schedule(batchMs);
      },
    });
  }

  /** Everything that has arrived is on disk, unless the database cannot be reached. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [reports, stored, since] = [this.#waiting, this.#stored, this.#waitingSince];
    this.#waiting = [];
    this.#stored = [];
    try {
      await this.#options.exclusively(() => this.#take({ reports, stored }));
      this.#settleLag(since);
    } catch (error) {
      this.#options.log.error({ err: error, reports: reports.length }, 'measurements wait for the database');
      this.#waiting = [...reports, ...this.#waiting].slice(0, maxWaiting);
      this.#stored = [...stored, ...this.#stored].slice(0, maxWaiting);
      this.#schedule(retryMs);
    }
    if (this.#waiting.length > 0 || this.#behind.size > 0) this.#schedule(batchMs / 2);
  }

  /** Reads what other controllers stored of a run and this one did not hear of. Returns whether there was any. */
  async catchUp(runId: number): Promise<boolean> {
    const { peers, exclusively } = this.#options;
    if (peers === undefined || peers.isElsewhere(runId)) return false;
    return exclusively(() => readMissed(this.#options, runId));
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

  #accept(report: Report): void {
    if (this.#waiting.length >= maxWaiting) return;
    this.#waitingSince ??= performance.now();
    this.#waiting.push(report);
    this.#schedule(batchMs);
  }

  #settleLag(since: number | undefined): void {
    if (since === undefined) return;
    this.#lastLagMs = performance.now() - since;
    if (this.#waitingSince === since) this.#waitingSince = this.#waiting.length > 0 ? performance.now() : undefined;
  }

  #schedule(ms: number): void {
    if (this.#timer === undefined && !this.#isClosed) this.#timer = setTimeout(() => void this.flush(), ms);
  }

  async #take({ reports, stored }: Batch): Promise<void> {
    for (const runId of this.#behind) {
      this.#behind.delete(runId);
      if (!this.#shared?.peers.isElsewhere(runId)) await readMissed(this.#options, runId);
    }
    const own = await this.#storeForOthers(reports);
    if (own.length + stored.length > 0)
      await this.#leavingOutMoved(own, (left) => this.#store({ reports: left, stored }));
  }

  /** Stores the reports of runs that other controllers conduct, and returns the rest. */
  async #storeForOthers(reports: readonly Report[]): Promise<readonly Report[]> {
    const { peers, home } = this.#shared ?? {};
    const { foreign = [], own = [] } = Object.groupBy(reports, ({ report }) =>
      peers?.isElsewhere(report.runId) ? 'foreign' : 'own',
    );
    if (home === undefined || foreign.length === 0) return own;
    try {
      return [...own, ...(await this.#storeAtHome(home, foreign))];
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
    }
    // Those of one run must not keep those of others from being stored.
    for (const [runId, ofRun] of Map.groupBy(foreign, ({ report }) => report.runId)) {
      home.forget();
      try {
        own.push(...(await this.#storeAtHome(home, ofRun)));
      } catch (error) {
        if (error instanceof StorageUnavailable) throw error;
        this.#options.log.error({ err: error, runId }, 'measurements of a run were not written');
      }
    }
    return own;
  }

  async #storeAtHome(home: HomeIngest, reports: readonly Report[]): Promise<Report[]> {
    let over: Report[] = [];
    await this.#leavingOutMoved(reports, async (left) => {
      over = await home.store(left);
    });
    // What was read of them does not count what was stored since.
    for (const { report } of over) this.#options.runs.forget(report.runId);
    return over;
  }

  /** Without the agents that another controller has claimed; those that are here nevertheless are claimed again. */
  async #leavingOutMoved(
    reports: readonly Report[],
    work: (reports: readonly Report[]) => Promise<void>,
  ): Promise<void> {
    const { gateway } = this.#options;
    for (let left = reports; ; ) {
      try {
        return await work(left);
      } catch (error) {
        if (!(error instanceof AgentsMoved)) throw error;
        const isMoved = ({ agentId }: Report) => error.agentIds.includes(agentId);
        this.#waiting.push(...left.filter((one) => isMoved(one) && gateway.isHere(one.agentId)));
        left = left.filter((one) => !isMoved(one));
      }
    }
  }

  async #store(batch: Batch): Promise<void> {
    const { store, gateway, onStored } = this.#options;
    await this.#claim(batch.reports);
    let arrivals = await this.#sortOut(batch);
    // With one controller names are written along with what they name.
    const isShared = this.#shared !== undefined;
    const runs = () => arrivals.map(({ run }) => run);
    while (isShared && !(await shareNames(store.database, runs()))) arrivals = await this.#sortOut(batch);
    const writings = await Promise.all(arrivals.map((one) => prepareWriting(store, one)));
    for (const writing of await this.#writeAll(writings)) {
      settle(writing);
      acknowledge(gateway, writing.arrivals);
      onStored(writing.arrivals.run);
    }
    this.#compareCounts(batch.stored);
  }

  /** What another controller stored of agents that were there before is read. */
  async #claim(reports: readonly Report[]): Promise<void> {
    const { store, runs } = this.#options;
    const claimed = new Set(await this.#shared?.claims.claim(reports.map(({ agentId }) => agentId)));
    if (claimed.size === 0) return;
    const newer = reports.filter(({ agentId }) => claimed.has(agentId));
    for (const [runId, ofRun] of Map.groupBy(newer, ({ report }) => report.runId)) {
      const run = await runs.open(runId);
      const agentIds = [...new Set(ofRun.map(({ agentId }) => agentId))];
      const keys = run === undefined ? [] : await sampleKeysOfAgents(store.read, runId, agentIds);
      const isKnown = ({ agentID, orderIndex, fromSeq, toSeq }: (typeof keys)[number]) =>
        run?.streamOf(agentID, orderIndex)?.ranges.hasAll(fromSeq, toSeq) ?? true;
      if (!keys.every(isKnown)) await readMissed(this.#options, runId);
    }
  }

  async #sortOut({ reports, stored }: Batch): Promise<RunArrivals[]> {
    const { log, store, isCurrent = () => true } = this.#options;
    const byRun = new Map<number, RunArrivals>();
    const arrivalsOf = async (run: OpenRun) => {
      const { runId } = run.facts;
      const arrivals = byRun.get(runId) ?? (await newArrivals(store.read, run));
      byRun.set(runId, arrivals);
      return arrivals;
    };
    for (const seconds of stored) {
      const run = await this.#openStored(seconds);
      if (run !== undefined) addStored(await arrivalsOf(run), seconds);
    }
    for (const { agentId, report } of reports) {
      const { runId, epoch, order, summaries } = report;
      if (!(await isCurrent(runId, epoch, agentId))) continue;
      const run = byRun.get(runId)?.run ?? (await this.#open(runId, epoch));
      const stream = run?.facts.epoch === epoch ? run.streamOf(agentId, order) : undefined;
      if (run === undefined || stream === undefined) {
        log.warn({ runId, agentID: agentId, order }, 'measurements of a job that the run does not know');
        continue;
      }
      const refused = (await arrivalsOf(run)).add(stream, summaries);
      if (refused > 0) log.warn({ runId, agentID: agentId, order, refused }, 'measurements that make no sense');
    }
    // In the same order at all times, so that transactions never wait for each other.
    return [...byRun.values()].sort((a, b) => a.run.facts.runId - b.run.facts.runId);
  }

  /** A run that was assigned anew since it was opened is read again. */
  async #open(runId: number, epoch: number): Promise<OpenRun | undefined> {
    const { runs } = this.#options;
    const run = await runs.open(runId);
    if (run === undefined || run.facts.epoch === epoch) return run;
    runs.forget(runId);
    return runs.open(runId);
  }

  /** The run that seconds of another controller belong to, with the names they need. */
  async #openStored({ runId, epoch, names }: StoredSeconds): Promise<OpenRun | undefined> {
    const { peers } = this.#shared ?? {};
    const run = peers?.isElsewhere(runId) ? undefined : await this.#open(runId, epoch);
    if (run?.facts.epoch !== epoch) return undefined;
    if (run.names.size - run.names.fresh.length < names) {
      run.names = new NameBook(await runNamesOf(this.#options.store.read, runId));
    }
    return run;
  }

  #compareCounts(stored: readonly StoredSeconds[]): void {
    for (const { runId, epoch, parts } of stored) {
      const run = this.#options.runs.find(runId);
      if (run?.facts.epoch !== epoch) continue;
      const isBehind = parts.some(({ agentId, order, count }) => {
        const stream = run.streamOf(agentId, order);
        return stream !== undefined && stream.ranges.count < count;
      });
      if (isBehind) this.#behind.add(runId);
    }
  }

  /** One transaction for all; if it fails for one of them, each has its own. */
  async #writeAll(writings: readonly Writing[], isPart = false): Promise<Writing[]> {
    const { log, runs } = this.#options;
    const due = writings.filter(needsWrite);
    try {
      if (due.length > 0) await this.#write(due);
      return [...writings];
    } catch (error) {
      if (error instanceof StorageUnavailable || (error instanceof AgentsMoved && !isPart)) throw error;
      const written: Writing[] = [];
      if (writings.length > 1) {
        for (const one of writings) written.push(...(await this.#writeAll([one], true)));
        return written;
      }
      const runId = writings[0]?.arrivals.run.facts.runId ?? 0;
      log.error({ err: error, runId }, 'measurements of a run were not written');
      runs.forget(runId);
      return written;
    }
  }

  #write(writings: readonly Writing[]): Promise<void> {
    const { store, assertMayIngest } = this.#options;
    const agentIds = writings.flatMap(({ arrivals }) => [...arrivals.streams].map(({ agentId }) => agentId));
    return store.database.transaction(async (tx) => {
      if (agentIds.length > 0) await this.#shared?.claims.assertHeld(tx, agentIds);
      for (const writing of writings) await assertMayIngest?.(tx, writing.arrivals.run.facts.runId);
      for (const writing of writings) await write(tx, store.secrets, writing);
    });
  }
}

const addStored = (arrivals: RunArrivals, { parts }: StoredSeconds) => {
  for (const { agentId, order, rows } of parts) {
    const stream = arrivals.run.streamOf(agentId, order);
    if (stream === undefined) continue;
    for (const row of rows) arrivals.addStored(stream, unpackSeconds(packedOf(Buffer.from(row, 'base64'))));
  }
};
