import type { Logger } from 'pino';
import type { AgentGateway } from '../agents/gateway.ts';
import type { Bus } from '../bus/local.ts';
import { ApiError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { activeRuns, markRecovering } from '../store/runs.ts';
import type { SettingsStore } from '../store/settings.ts';
import { createAbortWatch } from './abort-watch.ts';
import { createAgentResets } from './agent-resets.ts';
import { createAttendance } from './attendance.ts';
import { createBeginning } from './begin-run.ts';
import { createCourier } from './courier.ts';
import type { Timing } from './deadlines.ts';
import { createEnding } from './end-run.ts';
import { createLateResults } from './late-results.ts';
import { createLedger } from './ledger.ts';
import { createMailbox } from './mailbox.ts';
import { nextStep } from './next-step.ts';
import type { Planner } from './planner.ts';
import { createQueueKeeper } from './queue-keeper.ts';
import { createRecovery } from './recovery.ts';
import { loseAgent } from './report.ts';
import { Roster } from './roster.ts';
import type { RunMetrics } from './run-metrics.ts';
import { type RunView, readView } from './run-view.ts';
import { createSteps } from './steps.ts';
import { isActive, runStatus } from './task-state.ts';

export interface ConductorDeps {
  store: Store;
  settings: Pick<SettingsStore, 'current'>;
  bus: Bus;
  gateway: AgentGateway;
  planner: Planner;
  metrics: RunMetrics;
  log: Logger;
  timing: Timing;
}

/** More steps in a row than any run takes: beyond it something is wrong, and the next look goes on. */
const mostSteps = 10;

/** Drives every run from the queue to its end. Only one conducts at a time. */
export const createConductor = (deps: ConductorDeps) => {
  const { store, settings, bus, gateway, metrics, log, timing } = deps;
  const roster = new Roster();
  const mailbox = createMailbox((error, runId) => {
    // Somebody else was faster: the next look sees what is true now.
    const isRace = error instanceof ApiError && error.code === 'ILLEGAL_TRANSITION';
    if (!isRace) log.error({ err: error, runId }, 'a run could not be conducted');
  });
  const ledger = createLedger(deps);
  const courier = createCourier(gateway);
  const ending = createEnding({ ...deps, ledger, courier });
  const steps = createSteps({ ...deps, ledger, ending });
  const watchAborts = createAbortWatch(ledger, steps, metrics);
  const late = createLateResults({ ledger, courier, metrics, lateMs: timing.lateMs });
  const recover = createRecovery({ ledger, ending, roster, settings, isOnline: (id) => gateway.isOnline(id) });
  const queue = createQueueKeeper({
    ...deps,
    begin: createBeginning({ ledger, settings }),
    ending,
    post: mailbox.post,
  });
  const resets = createAgentResets({
    ...{ store, gateway, log, resetMs: timing.resetMs },
    isAwaitedFrom: late.isAwaitedFrom,
    onReset: () => void lookAtQueue(),
  });

  const giveUpMissing = async (view: RunView) => {
    for (const agentId of roster.takeMissing(view.run.id, Date.now())) {
      if (gateway.isOnline(agentId)) continue;
      await ledger.edit(view.run.id, (now) => {
        const agent = now.agents.find(({ agentID }) => agentID === agentId);
        return agent && loseAgent(now, agent, 'it did not come back after a restart of the controller');
      });
    }
  };

  /** Takes the step that is due, if any. */
  const step = async (view: RunView): Promise<boolean> => {
    const isStopping = view.run.status === runStatus.stopping;
    const areSamplesComplete = isStopping && (await metrics.samplesComplete(view.run.id));
    const due = nextStep(view, { now: Date.now(), areSamplesComplete });
    if (due) await steps.perform(view, due, areSamplesComplete);
    return due !== undefined;
  };

  const advance = async (runId: number) => {
    for (let taken = 0; taken < mostSteps; taken += 1) {
      const view = await readView(store.read, runId);
      if (view === undefined || !isActive(view.run.status)) {
        roster.forget(runId);
        queue.forget(runId);
        return;
      }
      roster.keep(view);
      await giveUpMissing(view);
      if (await step(view)) continue;
      courier.deliver(view, queue.planOf(runId));
      const health = roster.healthOf(view);
      if (health !== view.run.health) await ledger.edit(runId, () => ({ patch: { health } }));
      return;
    }
  };
  const due = new Set<number>();
  /** Whoever is woken twice before its turn looks once. */
  const wake = (runId: number): Promise<void> => {
    if (due.has(runId)) return mailbox.post(runId, async () => {});
    due.add(runId);
    return mailbox.post(runId, () => {
      due.delete(runId);
      return advance(runId);
    });
  };

  let looking: Promise<void> | undefined;
  let isAskedAgain = false;
  /** One look at a time; who asks meanwhile gets another one. */
  const lookAtQueue = (): Promise<void> => {
    isAskedAgain = looking !== undefined;
    looking ??= queue
      .look()
      .catch((error) => log.error({ err: error }, 'the queue of runs could not be looked at'))
      .finally(() => {
        looking = undefined;
        if (isAskedAgain && endings.length > 0) void lookAtQueue();
      });
    return looking;
  };

  let endings: (() => void)[] = [];
  let ticking: Promise<void> | undefined;
  const tick = async () => {
    for (const { id } of await activeRuns(store.read)) {
      void mailbox.post(id, async () => {
        const view = roster.find(id);
        if (view) await watchAborts(view);
      });
      void wake(id);
    }
    await lookAtQueue();
    await late.look();
    await resets.look();
  };

  return {
    /** Takes up what was under way and goes on from there. */
    start: async () => {
      await store.database.transaction((tx) => markRecovering(tx));
      for (const { id } of await activeRuns(store.read)) {
        const view = await readView(store.read, id);
        if (view) await recover(view, Date.now());
      }
      const attendance = createAttendance({
        ...{ ledger, courier, roster, late, wake },
        read: store.read,
        post: mailbox.post,
      });
      const timer = setInterval(() => {
        ticking ??= tick()
          .catch((error) => log.error({ err: error }, 'runs could not be looked at'))
          .finally(() => {
            ticking = undefined;
          });
      }, timing.tickMs);
      endings = [
        gateway.subscribe(attendance),
        bus.subscribe('run.changed', ({ runId }) => void wake(runId).then(lookAtQueue)),
        () => clearInterval(timer),
      ];
      for (const { id } of await activeRuns(store.read)) void wake(id);
    },

    stop: async () => {
      for (const end of endings.splice(0)) end();
      await ticking;
      await looking;
      await mailbox.idle();
      await resets.idle();
      roster.clear();
    },
  };
};

export type Conductor = ReturnType<typeof createConductor>;
