import { isActive } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Mutex } from '../../concurrency/mutex.ts';
import { runStatuses } from '../../store/runs/run-results.ts';
import { runsWithLooseSamples } from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import type { OpenRuns } from '../ingest/open-runs.ts';
import { compact } from './compaction.ts';
import { rollUp } from './roll-up.ts';

export interface UpkeepOptions {
  store: Store;
  log: Logger;
  runs: OpenRuns;
  exclusively: Mutex;
  /** Called for a run that leaves the memory. */
  onClosed(runId: number): void;
}

const everyMs = 5000;
/** A run that has ended stays in memory so long after it was last spoken of. */
const idleMs = 30_000;
const isOver = (status: number | undefined) => status === undefined || !isActive(status);

/** Looks after stored samples in the background: minutes are merged and compressed, ended runs leave the memory. */
export const startUpkeep = ({ store, log, runs, exclusively, onClosed }: UpkeepOptions) => {
  const tidy = async (run: OpenRun, all: boolean) => {
    const when = { all, now: Date.now(), exclusively };
    await rollUp(store, run, when);
    await compact(store, run, when);
  };

  /** In turn: whoever writes has the run that is in memory, and not one that was put aside. */
  const close = (runId: number) =>
    exclusively(async () => {
      runs.forget(runId);
      onClosed(runId);
    });

  /** Everything of the run is brought into its final form. */
  const finish = async (runId: number) => {
    const run = await runs.open(runId);
    if (run !== undefined) await tidy(run, true);
    await close(runId);
  };

  const lookAfter = async (run: OpenRun, status: number | undefined) => {
    const { runId } = run.facts;
    if (status === undefined) await close(runId);
    else if (isOver(status) && Date.now() - run.usedAt > idleMs) await finish(runId);
    else if (run.isOurs || isOver(status)) await tidy(run, isOver(status));
  };

  const turn = async () => {
    const open = runs.all();
    const statuses = await runStatuses(
      store.read,
      open.map(({ facts }) => facts.runId),
    );
    for (const run of open) await lookAfter(run, statuses.get(run.facts.runId));
  };

  /** What a crash has left undone. */
  const recover = async () => {
    const left = await runsWithLooseSamples(store.read);
    const statuses = await runStatuses(store.read, left);
    for (const runId of left) if (isOver(statuses.get(runId))) await finish(runId);
  };

  let isClosed = false;
  const guarded = (work: () => Promise<void>) =>
    work().catch((error) => {
      if (!isClosed) log.error({ err: error }, 'upkeep of measurements');
    });
  let working: Promise<unknown> = guarded(recover);
  const timer = setInterval(() => {
    working = working.then(() => (isClosed ? undefined : guarded(turn)));
  }, everyMs).unref();

  return {
    finish,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await working;
    },
  };
};

export type Upkeep = ReturnType<typeof startUpkeep>;
