import { isTerminal, runStatus } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { OwnedRun } from '../../agents/gateway/peers/peer-messages.ts';
import type { Bus } from '../../bus/local.ts';
import { clockNow } from '../../clock.ts';
import type { Origin } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { type ConductingLock, postgresLock, soleLock } from '../../store/runs/conducting-lock.ts';
import { sweepRuns } from '../../store/runs/run-removal.ts';
import { activeRuns, runs as runTable } from '../../store/runs/runs.ts';
import { createRunControl, type RunState, type StopRequest } from '../control/run-control.ts';
import { createEnqueue, type StartedRun } from '../queue/enqueue.ts';
import { createStartCheck, type StartCheckDeps, type StartRequest } from '../queue/start-check.ts';
import { type Conductor, type ConductorDeps, createConductor } from './conductor.ts';
import { defaultTiming, type Timing } from './deadlines.ts';
import { RunLeases } from './run-leases.ts';

interface Deps {
  conductor: Conductor;
  lock: ConductingLock;
  handOver(): Promise<void>;
  retryMs: number;
  log: Logger;
  onConducting(isConducting: boolean): void;
}

/** Runs the conductor while this controller may conduct, and keeps trying while it may not. */
const startConducting = ({ conductor, lock, handOver, retryMs, log, onConducting }: Deps) => {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  /** Terms never overlap. */
  let lastChange: Promise<void> = Promise.resolve();

  const tryLater = () => {
    if (!isOver) timer = setTimeout(() => void attempt(), retryMs);
  };
  const begin = async () => {
    if (isOver) return;
    if (!(await lock.acquire())) return tryLater();
    await conductor.start();
    onConducting(lock.isHeld());
  };
  const attempt = () => {
    lastChange = lastChange.then(begin).catch((error) => {
      log.error({ err: error }, 'could not resume the active runs');
      tryLater();
    });
    return lastChange;
  };
  lock.onLost(() => {
    log.warn('the connection to the database broke: other controllers may take the runs of this one');
    onConducting(false);
    lastChange = lastChange.then(() => conductor.stop());
    tryLater();
  });

  return {
    /** Throws when the runs cannot be resumed. */
    begin: async () => {
      lastChange = lastChange.then(begin);
      await lastChange;
    },
    end: async () => {
      isOver = true;
      clearTimeout(timer);
      await lastChange.catch(() => {});
      await conductor.stop();
      await handOver().catch((error) => log.warn({ err: error }, 'could not hand over the runs'));
      await lock.close();
    },
  };
};

export interface RunsOptions extends Omit<ConductorDeps, 'timing' | 'leases'>, StartCheckDeps {
  settings: ConductorDeps['settings'];
  /** Set when several controllers may share the database. */
  databaseUrl?: string | undefined;
  /** Called when this controller begins to conduct runs, or no longer does. */
  onConducting?(isConducting: boolean): void;
  /** Called when this controller begins to own runs, or no longer does. */
  onOwned?(runs: readonly OwnedRun[], isOwned: boolean): void;
  /** Called when runs have changed their owner: what is remembered of them may be old. */
  onMoved?(runIds: readonly number[]): void;
  timing?: Partial<Timing>;
}

/** The interface of runs for the rest of the controller. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of what others may ask of runs
export const createRuns = (options: RunsOptions) => {
  const { store, settings, bus, log, databaseUrl, onConducting = () => {} } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const { onOwned = () => {}, onMoved = () => {} } = options;
  const leases = new RunLeases({ store, log, leaseMs: timing.leaseMs, onOwned, onMoved });
  const deps = { ...options, timing, leases };
  const lock = databaseUrl === undefined ? soleLock() : postgresLock(databaseUrl);
  const conductor = createConductor(deps);
  const handOver = async () => {
    await leases.handOver();
    bus.publish('runs.free', undefined);
  };
  const term = startConducting({ conductor, lock, handOver, retryMs: timing.retryMs, log, onConducting });
  const check = createStartCheck(deps);
  const enqueue = createEnqueue({
    ...deps,
    // Another controller that takes the run plans it itself.
    keepPlan: (runId, made) => {
      if (leases.owns(runId)) conductor.keepPlan(runId, made);
    },
  });
  const control = createRunControl(deps);

  return {
    ...control,
    /** Throws when a start is not possible. Slow, so it runs before the transaction that `enqueue` needs. */
    check,
    enqueue,
    /** Check and enqueue, for callers without an open transaction. */
    start: async (origin: Origin, request: StartRequest): Promise<StartedRun> => {
      const checked = await check(request);
      return store.change(origin, (tx) => enqueue(tx, checked));
    },
    stopTask: (origin: Origin, taskId: number, request: StopRequest): Promise<RunState> =>
      store.change(origin, (tx) => control.stop(tx, taskId, request)),
    /** From 1; undefined when the run is not queued. */
    queuePositionOf: async (runId: number): Promise<number | undefined> => {
      const waiting = (await activeRuns(store.read)).filter(({ status }) => status === runStatus.queued);
      return waiting.findIndex(({ id }) => id === runId) + 1 || undefined;
    },
    /** False on a time-out. */
    waitForEnd: (runId: number, timeoutMs: number) =>
      until(bus, timeoutMs, async () => {
        const run = await runTable.find(store.read, runId);
        return run === undefined || isTerminal(run.status);
      }),
    /** Deletes runs past their retention. */
    sweep: () => sweepRuns(store, settings.current().retention.runsDays),
    /** Resumes active runs. Await it before requests and agents are accepted. */
    recover: term.begin,
    isConducting: lock.isHeld,
    /** Whether this controller conducts the run. */
    owns: (runId: number) => leases.owns(runId),
    /** Of several controllers, work with this number is done by one. */
    isMine: (number: number) => leases.isMine(number),
    writer: conductor.writer,
    assertMayIngest: (tx: Executor, runId: number) => leases.assertMayIngest(tx, runId),
    close: term.end,
  };
};

export type Runs = ReturnType<typeof createRuns>;

const pollMs = 500;

/** Waits until a condition holds; checks it after every change of a run and periodically. */
const until = async (bus: Bus, timeoutMs: number, holds: () => Promise<boolean>): Promise<boolean> => {
  const giveUpAt = clockNow() + timeoutMs;
  for (;;) {
    const news = Promise.withResolvers<void>();
    const leave = bus.subscribe('run.changed', () => news.resolve());
    const timer = setTimeout(() => news.resolve(), Math.min(pollMs, Math.max(0, giveUpAt - clockNow())));
    try {
      if (await holds()) return true;
      if (clockNow() >= giveUpAt) return false;
      await news.promise;
    } finally {
      leave();
      clearTimeout(timer);
    }
  }
};
