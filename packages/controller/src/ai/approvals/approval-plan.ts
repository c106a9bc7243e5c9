import {
  type ApprovalPlan,
  type LoadChange,
  type StageValues,
  type StartBody,
  stagesSeconds,
  stagesWithin,
  type Threshold,
} from '@rushhour/contract';
import type { AiCaller } from '../../caller.ts';
import { ApiError, conflict } from '../../errors.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import { withSecrets } from '../../runs/lifecycle/run-definition.ts';
import type { Planner } from '../../runs/queue/planner.ts';
import type { CheckedStart } from '../../runs/queue/start-check.ts';
import type { RunDefinition } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { openTask, type StoredTask } from '../../store/tasks/tasks.ts';
import { assertStatuses, shownConflicts, type TaskOperations, visibleTask } from './approval-tasks.ts';
import { assertWithin, type RiskFacts, riskOf, type TaskAction, targetsOf, type VerdictResult } from './risk.ts';

export interface Request {
  readonly action: TaskAction;
  readonly taskIds: readonly number[];
  readonly params: {
    readonly durationSec?: number;
    readonly thresholds?: Threshold[];
    readonly changes?: readonly LoadChange[];
    readonly mode?: string;
  };
  readonly reason: string;
}

/** The usage counted against a key's budgets. */
export interface Cost {
  readonly starts: number;
  readonly agentSeconds: number;
  readonly generatedBytes: number;
}

/** A fully checked request; to be used at once. */
export interface Prepared {
  readonly judgement: VerdictResult;
  readonly plan: ApprovalPlan;
  readonly cost: Cost;
  readonly starts: ReadonlyMap<number, CheckedStart>;
}

interface Deps {
  readonly store: Store;
  readonly runs: Pick<Runs, 'check'>;
  readonly planner: Planner;
  readonly operations: Pick<TaskOperations, 'dependenciesOf' | 'conflictsOf'>;
}

interface Looked {
  readonly task: StoredTask;
  readonly facts: RiskFacts;
  readonly plan: RunPlan | undefined;
  readonly start: CheckedStart | undefined;
}

/** Every entry ends at this time at the latest. */
export const limitedTo = (definition: RunDefinition, seconds: number): RunDefinition => {
  const limit = (given: unknown) => {
    const duration = (given ?? {}) as { mode?: string; seconds?: number; stages?: readonly StageValues[] };
    if (duration.stages?.length) {
      const stages = stagesWithin(duration.stages, seconds);
      return { ...duration, stages, seconds: stagesSeconds(stages) };
    }
    const isShorter = duration.mode === 'time' && (duration.seconds ?? Number.POSITIVE_INFINITY) <= seconds;
    return isShorter ? duration : { ...duration, mode: 'time', seconds };
  };
  return {
    ...definition,
    configuration: (definition.configuration as Entry[]).map((entry) =>
      entry.subplugins === undefined
        ? { ...entry, values: { ...entry.values, duration: limit(entry.values?.['duration']) } }
        : { ...entry, subplugins: { ...entry.subplugins, duration: limit(entry.subplugins['duration']) } },
    ) as RunDefinition['configuration'],
  };
};
interface Entry {
  values?: Record<string, unknown>;
  subplugins?: Record<string, unknown>;
}

const notStartable = (taskId: number) => (error: unknown) => {
  if (!(error instanceof ApiError)) throw error;
  const isState = error.code === 'ILLEGAL_TRANSITION' || error.code === 'TASK_DELETED';
  if (!isState && error.kind !== 'invalid') throw error;
  throw conflict('TASK_NOT_STARTABLE', `task ${taskId} cannot be started: ${error.message}`, { ...error.data });
};

const rates = ['requestsPerSecond', 'packetsPerSecond', 'sessionsPerSecond'] as const;

/** Ratio of the new to the defined load, of the entry that grows most. */
const loadFactorOf = ({ configuration }: StoredTask, changes: readonly LoadChange[]): number =>
  Math.max(
    0,
    ...changes.flatMap((change) =>
      rates.flatMap((rate) => {
        const requested = change[rate];
        const present = (configuration[change.index]?.values as Record<string, unknown> | undefined)?.[rate];
        if (requested === undefined) return [];
        return typeof present === 'number' && present > 0 ? [requested / present] : [Number.POSITIVE_INFINITY];
      }),
    ),
  );

const sum = (figures: readonly number[]) => figures.reduce((total, value) => total + value, 0);
const sumOrNull = (figures: readonly (number | null | undefined)[]) =>
  figures.some((value) => typeof value !== 'number') ? null : sum(figures as number[]);

const costOf = (action: TaskAction, looked: readonly Looked[], maxSec: number): Cost => {
  if (action !== 'start' && action !== 'restart') return { starts: 0, agentSeconds: 0, generatedBytes: 0 };
  const estimates = looked.flatMap(({ plan }) => plan?.estimate ?? []);
  const secondsOf = (durationSec: number | null) => durationSec ?? maxSec;
  return {
    starts: looked.length,
    agentSeconds: Math.ceil(sum(estimates.map(({ agents, durationSec }) => agents * secondsOf(durationSec)))),
    generatedBytes: Math.ceil(sum(estimates.map(({ bps, durationSec }) => (bps / 8) * secondsOf(durationSec)))),
  };
};

const shownTargets = 20;

const planOf = (
  action: TaskAction,
  looked: readonly Looked[],
  { reasons }: VerdictResult,
  conflicts: ApprovalPlan['conflicts'],
): ApprovalPlan => {
  const plans = looked.flatMap(({ plan }) => plan ?? []);
  const agentIds = [...new Set(plans.flatMap(({ agents }) => agents.map(({ agentId }) => agentId)))];
  const targets = [...new Set(plans.flatMap((plan) => targetsOf(plan) ?? []))];
  const pps = plans.length === 0 ? null : sumOrNull(plans.map(({ estimate }) => estimate.pps));
  const bps = plans.length === 0 ? null : sumOrNull(plans.map(({ estimate }) => estimate.bps));
  const seconds = plans.length === 0 ? null : sumOrNull(plans.map(({ estimate }) => estimate.durationSec));
  const many = `${looked.length} task${looked.length === 1 ? '' : 's'}`;
  const traffic =
    plans.length === 0
      ? ''
      : `: ${agentIds.length} agents, ${pps} packets/s to ${targets[0] ?? 'nowhere'}${targets.length > 1 ? ` and ${targets.length - 1} more` : ''}${seconds === null ? '' : ` for ${seconds} s`}`;
  return {
    summary: `${action} ${many}${traffic}`,
    agents: agentIds.map((id) => ({ id })),
    targets: targets.slice(0, shownTargets),
    estimatedBps: bps,
    estimatedPps: pps,
    estimatedDurationSec: seconds,
    conflicts: conflicts.slice(0, shownTargets),
    warnings: [...reasons, ...new Set(plans.flatMap(({ notes }) => notes))].slice(0, 50),
  };
};

const checkedStart = async (
  { runs, planner }: Deps,
  caller: AiCaller,
  task: StoredTask,
  { action, params, reason }: Request,
) => {
  const { userId, permissions } = caller;
  const body: StartBody = { reason, ...(params.thresholds && { thresholds: params.thresholds }) };
  const asked = { taskId: task.id, userId, permissions, by: 'ai', body, isRestart: action === 'restart' } as const;
  const checked = await runs.check(asked).catch(notStartable(task.id));
  if (params.durationSec === undefined) return checked;
  const definition = limitedTo(checked.definition, params.durationSec);
  const plannedAt = Date.now();
  const plan = await planner.plan({ ...withSecrets(definition, checked.secrets), taskId: task.id });
  return { ...checked, definition, plan, plannedAt };
};

/** A task that cannot be planned is assessed without a plan. */
const planTask = async ({ store, planner }: Deps, task: StoredTask) => {
  const opened = await openTask(store.read, store.secrets, task.id);
  return opened && planner.plan(opened as unknown as RunDefinition).catch(() => undefined);
};

const look = async (deps: Deps, caller: AiCaller, task: StoredTask, request: Request): Promise<Looked> => {
  const { operations, store } = deps;
  const { action, params } = request;
  const isStart = action === 'start' || action === 'restart';
  const start = isStart ? await checkedStart(deps, caller, task, request) : undefined;
  const makesTraffic = action === 'resume' || action === 'set-rate';
  const plan = start?.plan ?? (makesTraffic ? await planTask(deps, task) : undefined);
  const { isSpoofing, agentIds } = await operations.dependenciesOf(store.read, task);
  const loadFactor = action === 'set-rate' ? loadFactorOf(task, params.changes ?? []) : undefined;
  const facts: RiskFacts = { definition: start?.definition ?? task, plan, isSpoofing, loadFactor };
  if (isStart) assertWithin(facts, caller.key.constraints, agentIds);
  return { task, facts, plan, start };
};

const conflictsOf = async ({ operations, store }: Deps, caller: AiCaller, looked: readonly Looked[]) => {
  const found = await Promise.all(
    looked.map(({ plan, task }) => (plan === undefined ? [] : operations.conflictsOf(plan, task.id))),
  );
  return shownConflicts(store.read, caller, found.flat());
};

/** Checks a request before anything changes: slow, never inside a transaction. */
export const createPrepare = (deps: Deps) => {
  const { store } = deps;

  return async (caller: AiCaller, request: Request): Promise<Prepared> => {
    const found: StoredTask[] = [];
    for (const id of request.taskIds) found.push(await visibleTask(store.read, caller, id));
    assertStatuses(request.action, found);
    const looked: Looked[] = [];
    for (const task of found) looked.push(await look(deps, caller, task, request));
    const { constraints } = caller.key;
    const judgement = riskOf(
      request.action,
      looked.map(({ facts }) => facts),
      constraints,
    );
    return {
      judgement,
      plan: planOf(request.action, looked, judgement, await conflictsOf(deps, caller, looked)),
      cost: costOf(request.action, looked, constraints.maxTaskDurationSec),
      starts: new Map(looked.flatMap(({ task, start }) => (start ? [[task.id, start] as const] : []))),
    };
  };
};

export type RecordImporter = ReturnType<typeof createPrepare>;
