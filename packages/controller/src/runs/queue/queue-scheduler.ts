import { runStatus } from '@rushhour/contract';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { clockNow, clockNowIso } from '../../clock.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import { StorageUnavailable } from '../../store/engine/database.ts';
import { awaitedAgents } from '../../store/runs/run-leases.ts';
import { type AgentForRun, agentsForRuns } from '../../store/runs/run-queue.ts';
import { type ActiveRun, activeRuns, runs } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { openDefinition } from '../lifecycle/run-definition.ts';
import type { RunEnding } from '../lifecycle/run-ending.ts';
import type { RunLeases } from '../lifecycle/run-leases.ts';
import { readView } from '../lifecycle/run-view.ts';
import { AgentsNotAvailable, type StartRun } from '../lifecycle/start-run.ts';
import { errorsOf, type MadePlan, type Planner } from './planner.ts';
import { movesOf, type QueueMove, type WaitingRun } from './queue.ts';

interface Deps {
  store: Store;
  gateway: AgentGateway;
  settings: Pick<SettingsStore, 'current'>;
  planner: Planner;
  leases: Pick<RunLeases, 'owns'>;
  begin: StartRun;
  ending: RunEnding;
  /** Queues work on a run. */
  post(runId: number, work: () => Promise<unknown>): Promise<void>;
}

/** An older plan is made again before the run starts: agents and records may have changed. */
const freshMs = 5000;

const createQueueContext = (deps: Deps) => {
  const plans = new Map<number, MadePlan>();
  return { ...deps, plans };
};
type QueueContext = ReturnType<typeof createQueueContext>;

/** Undefined when the run can no longer be planned; it has then failed. */
const planFor = async (
  { plans, store, planner, ending }: QueueContext,
  runId: number,
  youngest = 0,
): Promise<RunPlan | undefined> => {
  const known = plans.get(runId);
  if (known !== undefined && known.at >= youngest) return known.plan;
  const run = await runs.find(store.read, runId);
  if (run?.status !== runStatus.queued) return undefined;
  const plan = await planner.plan({ ...openDefinition(run, store.secrets), taskId: run.taskID }).catch((error) => {
    if (error instanceof StorageUnavailable) throw error;
    return `it cannot be planned: ${(error as Error).message}`;
  });
  const [first, ...rest] = typeof plan === 'string' ? [{ message: plan }] : errorsOf(plan);
  if (first !== undefined || typeof plan === 'string') {
    const more = rest.length > 0 ? ` (and ${rest.length} more)` : '';
    await ending.fail({ run, agents: [] }, '', `${first?.message}${more}`);
    return undefined;
  }
  plans.set(runId, { plan, at: clockNow() });
  return plan;
};

/** Runs of all controllers, in the order of the queue. Each controller plans its own. */
const waitingOf = async (context: QueueContext, active: readonly ActiveRun[], now: string): Promise<WaitingRun[]> => {
  const { leases, store } = context;
  const waiting: WaitingRun[] = [];
  const isAlone = active.every(({ id, status }) => status !== runStatus.queued || leases.owns(id));
  const awaited = isAlone ? new Map<number, number[]>() : await awaitedAgents(store.read);
  for (const run of active) {
    if (run.status !== runStatus.queued || (run.notBefore ?? '') > now) continue;
    if (!leases.owns(run.id)) {
      waiting.push({ ...run, agentIds: awaited.get(run.id) ?? [] });
      continue;
    }
    const plan = await planFor(context, run.id);
    if (plan) waiting.push({ ...run, agentIds: plan.agents.map(({ agentId }) => agentId) });
  }
  return waiting;
};

const isOnline = ({ gateway }: QueueContext, agentId: number) => gateway.isOnline(agentId);

const carryOut = async (context: QueueContext, move: QueueMove, waiting: readonly WaitingRun[]) => {
  const { store, ending, begin } = context;
  if (move.kind === 'fail') {
    const view = await readView(store.read, move.runId);
    if (view) await ending.fail(view, move.reason, move.error);
    return;
  }
  const plan = await planFor(context, move.runId, clockNow() - freshMs);
  const run = waiting.find(({ id }) => id === move.runId);
  if (plan === undefined || run === undefined) return;
  const alone = [{ ...run, agentIds: plan.agents.map(({ agentId }) => agentId) }];
  const areFree = (agents: ReadonlyMap<number, AgentForRun>) => {
    const [only] = movesOf(alone, {
      now: clockNowIso(),
      agents,
      isOnline: (agentId: number) => isOnline(context, agentId),
      freeSlots: 1,
    });
    return only?.kind === 'begin';
  };
  await begin(move.runId, plan, areFree).catch((error) => {
    // The run stays queued.
    if (!(error instanceof AgentsNotAvailable)) throw error;
  });
};

/** Schedules the queue: starts runs whose agents are online and free, fails runs that cannot start. */
export const createQueueScheduler = (deps: Deps) => {
  const context = createQueueContext(deps);
  const { store, settings, leases, post, plans } = context;

  return {
    look: async () => {
      const now = clockNowIso();
      const active = await activeRuns(store.read);
      const waiting = await waitingOf(context, active, now);
      if (!waiting.some(({ id }) => leases.owns(id))) return;
      const moves = movesOf(waiting, {
        now,
        agents: await agentsForRuns(store.read, [...new Set(waiting.flatMap(({ agentIds }) => agentIds))]),
        isOnline: (agentId: number) => isOnline(context, agentId),
        freeSlots:
          settings.current().tasks.maxConcurrent - active.filter(({ status }) => status > runStatus.queued).length,
      });
      const own = moves.filter(({ runId }) => leases.owns(runId));
      for (const move of own) await post(move.runId, () => carryOut(context, move, waiting));
    },
    keepPlan: (runId: number, made: MadePlan) => void plans.set(runId, made),
    /** The plan that the active run was started with. */
    planOf: (runId: number) => plans.get(runId)?.plan,
    forget: (runId: number) => void plans.delete(runId),
  };
};
