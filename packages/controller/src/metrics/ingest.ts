import type { Logger } from 'pino';
import type { AgentGateway } from '../agents/gateway.ts';
import { StorageUnavailable } from '../store/database.ts';
import type { Store } from '../store/index.ts';
import { everyAgent, insertRunNames, insertSamples, removeSamplesIn } from '../store/samples.ts';
import { RunArrivals, type SummariesReport } from './arrivals.ts';
import { firstOfMinute, lastOfMinute, minuteOf } from './merged-minutes.ts';
import { blockOf, type OpenRun } from './open-run.ts';
import { type OpenRuns, readMergedMinute } from './open-runs.ts';
import { secondAt } from './run-facts.ts';
import type { InTurn } from './turns.ts';

/** Whether what an agent says about a run still counts: the run goes on, and the agent has its newest assignment. */
export type IsCurrent = (runId: number, epoch: number, agentId: number) => boolean | Promise<boolean>;

export interface IngestOptions {
  store: Store;
  gateway: AgentGateway;
  log: Logger;
  runs: OpenRuns;
  inTurn: InTurn;
  /** The newest assignment of the run is asked of the store when left out. */
  isCurrent?: IsCurrent | undefined;
  /** Called after new seconds of a run are on disk and in memory. */
  onStored(run: OpenRun): void;
}

interface Report {
  agentId: number;
  report: SummariesReport;
}

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
export const createIngest = ({
  store,
  gateway,
  log,
  runs,
  inTurn,
  isCurrent = () => true,
  onStored,
}: IngestOptions) => {
  let waiting: Report[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const schedule = (ms: number) => {
    if (timer === undefined && !isClosed) timer = setTimeout(() => void flush(), ms);
  };

  const sortOut = async (reports: readonly Report[]): Promise<RunArrivals[]> => {
    const byRun = new Map<number, RunArrivals>();
    for (const { agentId, report } of reports) {
      const { runId, epoch, order, summaries } = report;
      if (!(await isCurrent(runId, epoch, agentId))) continue;
      let run = await runs.open(runId);
      if (run !== undefined && run.facts.epoch !== epoch && !byRun.has(runId)) {
        runs.forget(runId);
        run = await runs.open(runId);
      }
      const stream = run?.facts.epoch === epoch ? run.streamOf(agentId, order) : undefined;
      if (run === undefined || stream === undefined) {
        log.warn({ runId, agentId, order }, 'measurements of an order that the run does not know');
        continue;
      }
      const arrivals = byRun.get(runId) ?? new RunArrivals(run);
      byRun.set(runId, arrivals);
      const refused = arrivals.add(stream, summaries, Date.now());
      if (refused > 0) log.warn({ runId, agentId, order, refused }, 'measurements that make no sense');
    }
    return [...byRun.values()].sort((a, b) => a.run.facts.runId - b.run.facts.runId);
  };

  const write = (writings: readonly Writing[]) =>
    store.database.transaction(async (tx) => {
      for (const { arrivals, reopened } of writings) {
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
        await insertSamples(tx, arrivals.rows);
      }
    });

  /** One transaction for all; if it fails for one of them, each has its own. */
  const writeAll = async (writings: readonly Writing[]): Promise<Writing[]> => {
    try {
      await write(writings);
      return [...writings];
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      if (writings.length > 1) {
        const written: Writing[] = [];
        for (const one of writings) written.push(...(await writeAll([one])));
        return written;
      }
      const runId = writings[0]?.arrivals.run.facts.runId ?? 0;
      log.error({ err: error, runId }, 'measurements of a run were not written');
      runs.forget(runId);
      return [];
    }
  };

  const storeAll = async (reports: readonly Report[]) => {
    const writings = await Promise.all((await sortOut(reports)).map(preparedOf(store)));
    for (const writing of await writeAll(writings)) {
      settle(writing);
      acknowledge(gateway, writing.arrivals);
      onStored(writing.arrivals.run);
    }
  };

  const flush = async () => {
    timer = undefined;
    const taken = waiting;
    waiting = [];
    try {
      await inTurn(async () => taken.length > 0 && storeAll(taken));
    } catch (error) {
      log.error({ err: error, reports: taken.length }, 'measurements wait for the database');
      waiting = [...taken, ...waiting].slice(0, maxWaiting);
      schedule(retryMs);
    }
    if (waiting.length > 0) schedule(batchMs / 2);
  };

  const unsubscribe = gateway.subscribe({
    report: (agentId, report) => {
      if (report.type !== 'summaries' || waiting.length >= maxWaiting) return;
      waiting.push({ agentId, report });
      schedule(batchMs);
    },
  });

  return {
    /** Everything that has arrived is on disk, unless the database cannot be reached. */
    flush: async () => {
      clearTimeout(timer);
      await flush();
    },
    close: async () => {
      unsubscribe();
      isClosed = true;
      clearTimeout(timer);
      await flush();
    },
  };
};

const preparedOf =
  ({ read }: Store) =>
  async (arrivals: RunArrivals): Promise<Writing> => {
    const { run } = arrivals;
    const reopened: Writing['reopened'] = new Map();
    for (const stream of arrivals.streams) {
      for (const second of arrivals.secondsOf(stream)) {
        if (!run.isRolled(second)) continue;
        const minute = minuteOf(secondAt(run.facts, second.at));
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
  const now = Date.now();
  run.usedAt = now;
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
