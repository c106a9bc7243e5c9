import { isTerminal, runStatus } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import { clockNow } from '../../clock.ts';
import type { Origin } from '../../store/engine/change.ts';
import { type Leadership, postgresLeadership, soleLeadership } from '../../store/runs/run-leadership.ts';
import { sweepRuns } from '../../store/runs/run-removal.ts';
import { activeRuns, runs as runTable } from '../../store/runs/runs.ts';
import { createRunControl, type RunState, type StopRequest } from '../control/run-control.ts';
import { createEnqueue, type StartedRun } from '../queue/enqueue.ts';
import { createStartCheck, type StartCheckDeps, type StartRequest } from '../queue/start-check.ts';
import { type Conductor, type ConductorDeps, createConductor } from './conductor.ts';
import { defaultTiming, type Timing } from './deadlines.ts';

interface Deps {
  conductor: Conductor;
  leadership: Leadership;
  electionMs: number;
  log: Logger;
  onConducting(isConducting: boolean): void;
}

/** Runs the conductor while this controller is the leader, and keeps trying while it is not. */
const startLeaderElection = ({ conductor, leadership, electionMs, log, onConducting }: Deps) => {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  /** Terms never overlap. */
  let lastChange: Promise<void> = Promise.resolve();

  const tryLater = () => {
    if (!isOver) timer = setTimeout(() => void attempt(), electionMs);
  };
  const stand = async () => {
    if (isOver) return;
    if (!(await leadership.acquire())) return tryLater();
    await conductor.start();
    onConducting(leadership.isHeld());
  };
  const attempt = () => {
    lastChange = lastChange.then(stand).catch((error) => {
      log.error({ err: error }, 'could not resume the active runs');
      tryLater();
    });
    return lastChange;
  };
  leadership.onLost(() => {
    log.warn('lost the leadership: another controller may conduct runs');
    onConducting(false);
    lastChange = lastChange.then(() => conductor.stop());
    tryLater();
  });

  return {
    /** Throws when the runs cannot be resumed. */
    begin: async () => {
      lastChange = lastChange.then(stand);
      await lastChange;
    },
    end: async () => {
      isOver = true;
      clearTimeout(timer);
      await lastChange.catch(() => {});
      await conductor.stop();
      await leadership.close();
    },
  };
};

export interface RunsOptions extends Omit<ConductorDeps, 'timing'>, StartCheckDeps {
  settings: ConductorDeps['settings'];
  /** Set when several controllers may share the database. */
  databaseUrl?: string | undefined;
  /** Called when this controller begins to conduct runs, or no longer does. */
  onConducting?(isConducting: boolean): void;
  timing?: Partial<Timing>;
}

/** The interface of runs for the rest of the controller. */
export const createRuns = (options: RunsOptions) => {
  const { store, settings, bus, log, databaseUrl, onConducting = () => {} } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const deps = { ...options, timing };
  const leadership = databaseUrl === undefined ? soleLeadership() : postgresLeadership(databaseUrl);
  const conductor = createConductor(deps);
  const term = startLeaderElection({ conductor, leadership, electionMs: timing.electionMs, log, onConducting });
  const check = createStartCheck(deps);
  const enqueue = createEnqueue({
    ...deps,
    // Another controller that leads plans the run itself.
    keepPlan: (runId, made) => {
      if (leadership.isHeld()) conductor.keepPlan(runId, made);
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
    isConducting: leadership.isHeld,
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
