import { isActive, runStatus } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import type { Bus } from '../../bus/local.ts';
import { clockNow } from '../../clock.ts';
import { createKeyedQueue } from '../../concurrency/keyed-queue.ts';
import { createSingleFlight } from '../../concurrency/single-flight.ts';
import { ApiError } from '../../errors.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import { activeRuns as readActiveRuns } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { createAgentEventHandler } from '../commands/agent-event-handler.ts';
import { createAgentResets } from '../commands/agent-resets.ts';
import { createCommandSender } from '../commands/command-sender.ts';
import { createAbortWatch } from '../control/abort-watch.ts';
import { createGoalWatch } from '../goals/goal-watch.ts';
import type { Planner } from '../queue/planner.ts';
import { createQueueScheduler } from '../queue/queue-scheduler.ts';
import { noteLostAgent } from '../verdict/apply-report.ts';
import type { RunMetrics } from '../verdict/run-metrics.ts';
import { AbsentAgents } from './absent-agents.ts';
import { ActiveRunCache } from './active-run-cache.ts';
import { ChangingRun } from './changes.ts';
import type { Timing } from './deadlines.ts';
import { createLateResults } from './late-results.ts';
import { nextStep } from './next-step.ts';
import { createRecovery } from './recovery.ts';
import { createRunEnding } from './run-ending.ts';
import { type LeaseChanges, RunGivenAway, type RunLeases } from './run-leases.ts';
import { isDone, type RunView, readView } from './run-view.ts';
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
  leases: RunLeases;
  /** Agents of runs that this controller took over: they report again what the owner before may not have heard. */
  renewAgents?(agentIds: readonly number[]): void;
}

/** More steps in a row than any run takes. Beyond it something is wrong; the next check continues. */
const maxSteps = 10;

const createContext = (deps: ConductorDeps) => {
  const { gateway, leases } = deps;
  const activeRuns = new ActiveRunCache();
  const work = createKeyedQueue<number>();
  const writer = createRunWriter(deps);
  const commands = createCommandSender(gateway, leases);
  const ending = createRunEnding({ ...deps, writer, commands });
  const steps = createSteps({ ...deps, writer, ending });
  return { ...deps, work, activeRuns, absent: new AbsentAgents(), writer, steps, ending, commands };
};
type Context = ReturnType<typeof createContext>;

const post = async ({ work, log }: Context, runId: number, step: () => Promise<unknown>): Promise<void> => {
  try {
    await work.run(runId, step);
  } catch (error) {
    // Another controller changed the run first: the next look reads its new state.
    const isRace = error instanceof ApiError && error.code === 'ILLEGAL_TRANSITION';
    if (error instanceof RunGivenAway) log.warn({ runId }, 'another controller conducts the run');
    else if (!isRace) log.error({ err: error, runId }, 'could not advance a run');
  }
};

const giveUp = (
  { writer, gateway }: Context,
  { run }: RunView,
  { agentIds, reason }: { agentIds: readonly number[]; reason: string },
) => {
  const lost = agentIds.filter((id) => !gateway.isOnline(id));
  if (lost.length === 0) return undefined;
  return writer.edit(run.id, (now) => {
    const changing = new ChangingRun(now);
    for (const agent of now.agents.filter((one) => lost.includes(one.agentID) && !isDone(one)))
      changing.take((view) => noteLostAgent(view, agent, reason));
    return changing.changes;
  });
};

/** Whether agents were given up that did not come back. */
const giveUpMissing = async (context: Context, view: RunView): Promise<boolean> => {
  const { activeRuns, gateway, absent, settings, timing } = context;
  const agentIds = activeRuns.takeMissing(view.run.id, clockNow());
  await giveUp(context, view, { agentIds, reason: 'it did not come back after a restart of the controller' });
  const isThere = (id: number) => gateway.isOnline(id) || activeRuns.isAwaited(view.run.id, id);
  const limitMs = settings.current().agents.lostAfterSec * 1000 + timing.absentMs;
  const gone = absent.look(view, isThere, performance.now(), limitMs);
  await giveUp(context, view, { agentIds: gone, reason: 'it is not connected' });
  return agentIds.length > 0 || gone.length > 0;
};

/** Undefined when the store did not answer: a fault there must not keep a run from ending. */
const missingSecondsOf = async ({ metrics, log }: Context, runId: number) => {
  try {
    return await metrics.missingSeconds(runId);
  } catch (error) {
    log.error({ err: error, runId }, 'could not determine whether all samples of a run are stored');
    return undefined;
  }
};

/** Takes the next step, if one is due. */
const step = async (context: Context, view: RunView): Promise<boolean> => {
  const { steps } = context;
  const isStopping = view.run.status === runStatus.stopping;
  const missing = isStopping ? await missingSecondsOf(context, view.run.id) : undefined;
  const due = nextStep(view, { now: clockNow(), missing });
  if (due) await steps.perform(view, due, missing?.size === 0);
  return due !== undefined;
};

const viewsOf = async ({ store }: Context, runIds: readonly number[]) => {
  const views = await Promise.all(runIds.map((id) => readView(store.read, id)));
  return views.filter((view) => view !== undefined);
};

type Queue = ReturnType<typeof createQueueScheduler>;

const advance = async (context: Context, queue: Queue, runId: number) => {
  const { store, activeRuns, commands, writer, leases } = context;
  if (!leases.owns(runId)) return;
  for (let taken = 0; taken < maxSteps; taken += 1) {
    const view = await readView(store.read, runId);
    if (view === undefined || !isActive(view.run.status)) {
      activeRuns.forget(runId);
      context.absent.forget(runId);
      queue.forget(runId);
      return leases.release(runId);
    }
    activeRuns.keep(view);
    if (await giveUpMissing(context, view)) continue;
    if (await step(context, view)) continue;
    commands.deliver(view, queue.planOf(runId));
    const health = activeRuns.healthOf(view);
    if (health !== view.run.health) await writer.edit(runId, () => ({ patch: { health } }));
    return;
  }
};

/** Several wake-ups before the check cause one check. */
const createWake = (context: Context, queue: Queue) => {
  const woken = new Set<number>();
  return (runId: number): Promise<void> => {
    if (woken.has(runId)) return post(context, runId, async () => {});
    woken.add(runId);
    return post(context, runId, () => {
      woken.delete(runId);
      return advance(context, queue, runId);
    });
  };
};

/** The parts of a conductor that check runs and the queue. */
const createChecks = (context: Context) => {
  const { store, settings, gateway, metrics, log, timing, writer, steps, commands, ending, activeRuns, leases } =
    context;
  const postTo = (runId: number, work: () => Promise<unknown>) => post(context, runId, work);
  const watchAborts = createAbortWatch(writer, steps, metrics);
  const watchGoals = createGoalWatch({ read: store.read, writer, steps, metrics });
  const late = createLateResults({ writer, commands, metrics, lateMs: timing.lateMs });
  const queue = createQueueScheduler({ ...context, begin: createRunStart({ writer, settings }), ending, post: postTo });
  const queueLook = createSingleFlight(queue.look, (error) => log.error({ err: error }, 'could not read the queue'));
  const resets = createAgentResets({
    ...{ store, gateway, log, resetMs: timing.resetMs },
    isAwaitedFrom: late.isAwaitedFrom,
    onReset: () => void queueLook.request(),
  });
  const wake = createWake(context, queue);
  const round = createSingleFlight(
    async () => {
      for (const { id } of await readActiveRuns(store.read)) {
        if (!leases.owns(id)) continue;
        void postTo(id, async () => {
          const view = activeRuns.find(id);
          if (view) await watchAborts(view);
          if (view) await watchGoals(view);
        });
        void wake(id);
      }
      await queueLook.request();
      await late.look();
      await resets.look();
    },
    (error) => log.error({ err: error }, 'could not check the active runs'),
  );
  const agentEvents = () =>
    createAgentEventHandler({
      ...{ writer, commands, activeRuns, late, wake, gateway, leases, read: store.read, post: postTo },
    });
  return { queue, queueLook, resets, round, wake, agentEvents };
};

/** Resumes runs whose owner is gone. */
const takeOver = async (context: Context, { taken: runIds, orphaned }: LeaseChanges) => {
  const { gateway, settings, writer, ending, activeRuns, renewAgents } = context;
  const recover = createRecovery({ writer, ending, activeRuns, settings, isOnline: (id) => gateway.isOnline(id) });
  for (const view of await viewsOf(context, runIds)) {
    await post(context, view.run.id, () => recover(view, clockNow()));
  }
  // Loaded before the first agent reconnects: an agent that lost its runs does not name them.
  const views = (await viewsOf(context, runIds)).filter(({ run }) => isActive(run.status));
  for (const view of views) activeRuns.keep(view);
  const silenced = views.filter(({ run }) => orphaned.includes(run.id));
  const agentIds = new Set(silenced.flatMap(({ agents }) => agents.map(({ agentID }) => agentID)));
  if (agentIds.size > 0) renewAgents?.([...agentIds]);
};

/** Renews the leases of this controller and follows what became of them. */
const createLeaseLook = (context: Context, { queue, wake }: Pick<ReturnType<typeof createChecks>, 'queue' | 'wake'>) =>
  createSingleFlight(
    async () => {
      const { leases, activeRuns } = context;
      const changes = await leases.look();
      const { taken, lost } = changes;
      for (const runId of lost) {
        context.log.warn({ runId }, 'another controller took over the run');
        activeRuns.forget(runId);
        context.absent.forget(runId);
        queue.forget(runId);
      }
      if (taken.length > 0) await takeOver(context, changes);
      for (const runId of taken) void wake(runId);
    },
    (error) => context.log.error({ err: error }, 'could not renew the lease of runs'),
  );

/** Leases are renewed so often while they last. */
const renewalsPerLease = 4;

/** Drives the runs that this controller owns from the queue to their end. */
export const createConductor = (deps: ConductorDeps) => {
  const context = createContext(deps);
  const { bus, gateway, timing, activeRuns, work, leases, writer } = context;
  const checks = createChecks(context);
  const { queue, queueLook, resets, round, wake, agentEvents } = checks;
  const leaseLook = createLeaseLook(context, checks);
  let endings: (() => void)[] = [];
  const every = (ms: number, flight: typeof round) => {
    const timer = setInterval(() => {
      if (!flight.isBusy()) void flight.request();
    }, ms);
    return () => clearInterval(timer);
  };

  return {
    writer,
    /** The plan of a run that was just queued. */
    keepPlan: queue.keepPlan,

    /** Resumes the active runs that no other controller conducts. Throws when they cannot be read. */
    start: async () => {
      await takeOver(context, await leases.look());
      for (const flight of [queueLook, round, leaseLook]) flight.open();
      endings = [
        gateway.subscribe(agentEvents()),
        bus.subscribe('run.changed', ({ runId }) => void wake(runId).then(queueLook.request)),
        bus.subscribe('runs.free', () => void leaseLook.request()),
        every(timing.tickMs, round),
        every(timing.leaseMs / renewalsPerLease, leaseLook),
      ];
      for (const runId of activeRuns.runIds) void wake(runId);
    },

    stop: async () => {
      for (const end of endings.splice(0)) end();
      await leaseLook.close();
      await round.close();
      await queueLook.close();
      await work.idle();
      await resets.idle();
      activeRuns.clear();
      leases.forget();
    },
  };
};

export type Conductor = ReturnType<typeof createConductor>;
