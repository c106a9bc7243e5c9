import { isActive, runStatus } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import type { Bus } from '../../bus/local.ts';
import { clockNow } from '../../clock.ts';
import { createKeyedQueue } from '../../concurrency/keyed-queue.ts';
import { createSingleFlight } from '../../concurrency/single-flight.ts';
import { ApiError } from '../../errors.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { markRecovering, activeRuns as readActiveRuns } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { createAgentEventHandler } from '../commands/agent-event-handler.ts';
import { createAgentResets } from '../commands/agent-resets.ts';
import { createCommandSender } from '../commands/command-sender.ts';
import { createAbortWatch } from '../control/abort-watch.ts';
import type { Planner } from '../queue/planner.ts';
import { createQueueScheduler } from '../queue/queue-scheduler.ts';
import { noteLostAgent } from '../verdict/apply-report.ts';
import type { RunMetrics } from '../verdict/run-metrics.ts';
import { ActiveRunCache } from './active-run-cache.ts';
import type { Timing } from './deadlines.ts';
import { createLateResults } from './late-results.ts';
import { nextStep } from './next-step.ts';
import { createRecovery } from './recovery.ts';
import { createRunEnding } from './run-ending.ts';
import { type RunView, readView } from './run-view.ts';
import { createRunWriter } from './run-writer.ts';
import { createRunStart } from './start-run.ts';
import { createSteps } from './steps.ts';

export interface ConductorDeps {
  store: Store;
  /** Storage of alert files. */
  blobs: Pick<Blobs, 'read'>;
  settings: Pick<SettingsStore, 'current'>;
  bus: Bus;
  gateway: AgentGateway;
  planner: Planner;
  metrics: RunMetrics;
  log: Logger;
  timing: Timing;
}

/** More steps in a row than any run takes. Beyond it something is wrong; the next check continues. */
const maxSteps = 10;

/** Drives every run from the queue to its end. Only the leader runs it. */
export const createConductor = (deps: ConductorDeps) => {
  const { store, settings, bus, gateway, metrics, log, timing } = deps;
  const activeRuns = new ActiveRunCache();
  const work = createKeyedQueue<number>();
  const post = async (runId: number, step: () => Promise<unknown>): Promise<void> => {
    try {
      await work.run(runId, step);
    } catch (error) {
      // Another controller changed the run first: the next look reads its new state.
      const isRace = error instanceof ApiError && error.code === 'ILLEGAL_TRANSITION';
      if (!isRace) log.error({ err: error, runId }, 'could not advance a run');
    }
  };
  const writer = createRunWriter(deps);
  const commands = createCommandSender(gateway);
  const ending = createRunEnding({ ...deps, writer, commands });
  const steps = createSteps({ ...deps, writer, ending });
  const watchAborts = createAbortWatch(writer, steps, metrics);
  const late = createLateResults({ writer, commands, metrics, lateMs: timing.lateMs });
  const recover = createRecovery({ writer, ending, activeRuns, settings, isOnline: (id) => gateway.isOnline(id) });
  const queue = createQueueScheduler({
    ...deps,
    begin: createRunStart({ writer, settings }),
    ending,
    post,
  });
  const resets = createAgentResets({
    ...{ store, gateway, log, resetMs: timing.resetMs },
    isAwaitedFrom: late.isAwaitedFrom,
    onReset: () => void queueLook.request(),
  });

  const giveUpMissing = async (view: RunView) => {
    for (const agentId of activeRuns.takeMissing(view.run.id, clockNow())) {
      if (gateway.isOnline(agentId)) continue;
      await writer.edit(view.run.id, (now) => {
        const agent = now.agents.find(({ agentID }) => agentID === agentId);
        return agent && noteLostAgent(now, agent, 'it did not come back after a restart of the controller');
      });
    }
  };

  /** Without an answer the samples count as incomplete: a fault there must not keep a run from ending. */
  const hasAllSamples = async (runId: number) => {
    try {
      return await metrics.samplesComplete(runId);
    } catch (error) {
      log.error({ err: error, runId }, 'could not determine whether all samples of a run are stored');
      return false;
    }
  };

  /** Takes the next step, if one is due. */
  const step = async (view: RunView): Promise<boolean> => {
    const isStopping = view.run.status === runStatus.stopping;
    const areSamplesComplete = isStopping && (await hasAllSamples(view.run.id));
    const due = nextStep(view, { now: clockNow(), areSamplesComplete });
    if (due) await steps.perform(view, due, areSamplesComplete);
    return due !== undefined;
  };

  const advance = async (runId: number) => {
    for (let taken = 0; taken < maxSteps; taken += 1) {
      const view = await readView(store.read, runId);
      if (view === undefined || !isActive(view.run.status)) {
        activeRuns.forget(runId);
        queue.forget(runId);
        return;
      }
      activeRuns.keep(view);
      await giveUpMissing(view);
      if (await step(view)) continue;
      commands.deliver(view, queue.planOf(runId));
      const health = activeRuns.healthOf(view);
      if (health !== view.run.health) await writer.edit(runId, () => ({ patch: { health } }));
      return;
    }
  };
  const woken = new Set<number>();
  /** Several wake-ups before the check cause one check. */
  const wake = (runId: number): Promise<void> => {
    if (woken.has(runId)) return post(runId, async () => {});
    woken.add(runId);
    return post(runId, () => {
      woken.delete(runId);
      return advance(runId);
    });
  };

  const queueLook = createSingleFlight(queue.look, (error) => log.error({ err: error }, 'could not read the queue'));
  const round = createSingleFlight(
    async () => {
      for (const { id } of await readActiveRuns(store.read)) {
        void post(id, async () => {
          const view = activeRuns.find(id);
          if (view) await watchAborts(view);
        });
        void wake(id);
      }
      await queueLook.request();
      await late.look();
      await resets.look();
    },
    (error) => log.error({ err: error }, 'could not check the active runs'),
  );
  const activeViews = async () => {
    const views = await Promise.all((await readActiveRuns(store.read)).map(({ id }) => readView(store.read, id)));
    return views.filter((view) => view !== undefined);
  };
  let endings: (() => void)[] = [];

  return {
    /** The plan of a run that was just queued. */
    keepPlan: queue.keepPlan,

    /** Resumes the active runs. */
    start: async () => {
      await store.database.transaction((tx) => markRecovering(tx));
      for (const view of await activeViews()) await recover(view, clockNow());
      // Loaded before the first agent reconnects: an agent that lost its runs does not name them.
      for (const view of await activeViews()) activeRuns.keep(view);
      const agentEvents = createAgentEventHandler({
        ...{ writer, commands, activeRuns, late, wake },
        read: store.read,
        post,
      });
      for (const flight of [queueLook, round]) flight.open();
      const timer = setInterval(() => {
        if (!round.isBusy()) void round.request();
      }, timing.tickMs);
      endings = [
        gateway.subscribe(agentEvents),
        bus.subscribe('run.changed', ({ runId }) => void wake(runId).then(queueLook.request)),
        () => clearInterval(timer),
      ];
      for (const runId of activeRuns.runIds) void wake(runId);
    },

    stop: async () => {
      for (const end of endings.splice(0)) end();
      await round.close();
      await queueLook.close();
      await work.idle();
      await resets.idle();
      activeRuns.clear();
    },
  };
};

export type Conductor = ReturnType<typeof createConductor>;
