import {
  type ConfigurationEntry,
  entriesOf,
  hazardOf,
  isActive,
  type Permission,
  type StartBody,
} from '@rushhour/contract';
import { conflict, forbidden, type Issue, invalid, orNotFound } from '../../errors.ts';
import { allows } from '../../people/permissions.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import { resolveSignatureFilters } from '../../plan/load/signature-filters.ts';
import { agentsForRuns } from '../../store/runs/run-queue.ts';
import { newestRunOf, type RunDefinition } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { openedSecrets, type StoredTask, tasks } from '../../store/tasks/tasks.ts';
import { definitionOf, type PlainSecrets, withSecrets } from '../lifecycle/run-definition.ts';
import { illegalMove } from '../lifecycle/run-writer.ts';
import { errorsOf, type Planner } from './planner.ts';
import { isReservedFrom } from './queue.ts';

export interface StartRequest {
  readonly taskId: number;
  /** Its reservations apply, and it is notified of failures. */
  readonly userId: number | null;
  readonly permissions: ReadonlySet<number>;
  readonly by: 'user' | 'ai' | 'schedule';
  /** 9 goes first. */
  readonly priority?: number;
  readonly body: StartBody;
  /** The active run is stopped first. */
  readonly isRestart?: boolean;
}

/** A start that passed every check; to be enqueued at once. */
export interface CheckedStart extends StartRequest {
  readonly task: StoredTask;
  readonly definition: RunDefinition;
  readonly secrets: PlainSecrets;
  readonly plan: RunPlan;
  /** When the plan was made, in milliseconds since the epoch. */
  readonly plannedAt: number;
}

export interface StartCheckDeps {
  store: Store;
  settings: Pick<SettingsStore, 'current'>;
  planner: Planner;
  /** All issues of a definition, as reported when it is saved. */
  checkDefinition(definition: RunDefinition): Promise<Issue[]>;
  /** All issues of the thresholds for the definition. */
  checkThresholds(definition: RunDefinition, thresholds: NonNullable<StartBody['thresholds']>): Issue[];
  /** Used space of the data disk in percent. */
  diskUsedPct(): Promise<number>;
}

const hazardous = 2;
const permissionOf: Readonly<Record<string, Permission>> = {
  'cve-replay': 'cve.execute',
  'malware-transfer': 'malware.execute',
  'compromised-host': 'compromisedHost.execute',
};

const entriesIn = ({ configuration }: RunDefinition) => entriesOf(configuration as ConfigurationEntry[]);

/** Intrusive signatures need their own permission. */
const isIntrusive = ({ values }: { readonly values: Readonly<Record<string, unknown>> }) =>
  (values['cveReplayParams'] as { allowIntrusive?: boolean } | undefined)?.allowIntrusive === true;

const permissionsFor = (definition: RunDefinition): Permission[] => {
  const hazard = hazardOf({ ...definition, configuration: definition.configuration as ConfigurationEntry[] });
  const special = entriesIn(definition).flatMap(({ plugin }) => permissionOf[plugin?.name ?? ''] ?? []);
  const intrusive: Permission[] = entriesIn(definition).some(isIntrusive) ? ['cve.runIntrusive'] : [];
  return [...(hazard >= hazardous ? (['tasks.executeHazardous'] as const) : []), ...special, ...intrusive];
};

const findStartable = async ({ store }: StartCheckDeps, { taskId, isRestart = false }: StartRequest) => {
  const task = await orNotFound(tasks.find(store.read, taskId), 'task', taskId);
  if (task.deletedAt !== null) throw conflict('TASK_DELETED', `task ${taskId} is deleted`, { id: taskId });
  const before = await newestRunOf(store.read, taskId);
  if (before && isActive(before.status) && !isRestart) throw illegalMove(before);
  return task;
};

const assertAllowed = (
  { settings }: StartCheckDeps,
  { permissions, body }: StartRequest,
  definition: RunDefinition,
) => {
  const needed = permissionsFor(definition);
  const permission = needed.find((candidate) => !allows(permissions, candidate));
  if (permission) throw forbidden('FORBIDDEN', `this needs the permission ${permission}`, { permission });
  if (needed.length > 0 && settings.current().tasks.hazardRequiresReason && !body.reason?.trim()) {
    throw invalid([
      { path: '/reason', code: 'REQUIRED', message: 'must give the reason for running a hazardous task' },
    ]);
  }
};

const planOf = async (
  deps: StartCheckDeps,
  definition: RunDefinition,
  { taskId, body: { thresholds } }: StartRequest,
): Promise<RunPlan> => {
  const { planner } = deps;
  const issues = [
    ...(await deps.checkDefinition(definition)),
    ...(thresholds ? deps.checkThresholds(definition, thresholds) : []),
  ];
  if (issues.length > 0) throw invalid(issues, 'INVALID_DEFINITION');
  const plan = await planner.plan({ ...definition, taskId });
  const errors = errorsOf(plan);
  if (errors.length > 0)
    throw invalid(
      errors.map(({ severity: _, ...issue }) => issue),
      'INVALID_DEFINITION',
    );
  return plan;
};

const assertUnreserved = async ({ store }: StartCheckDeps, { agents }: RunPlan, { userId }: StartRequest) => {
  const now = new Date().toISOString();
  const known = await agentsForRuns(
    store.read,
    agents.map(({ agentId }) => agentId),
  );
  for (const agent of known.values()) {
    if (!isReservedFrom(agent, userId, now)) continue;
    const { id, name, ownerEmail: owner, reservedUntil: until } = agent;
    throw conflict('AGENT_RESERVED', `agent ${name} is reserved by ${owner}`, { agentID: id, owner, until });
  }
};

const assertRoom = async (deps: StartCheckDeps) => {
  const { settings } = deps;
  const { diskHighPct } = settings.current().retention;
  const used = await deps.diskUsedPct();
  if (used <= diskHighPct) return;
  const message = `the disk is ${Math.round(used)} % full, new runs are refused above ${diskHighPct} %`;
  throw conflict('DISK_FULL', message, { usedPct: Math.round(used) });
};

/** Checks everything that may prevent a start, without side effects. */
export const createStartCheck = (deps: StartCheckDeps) => {
  const { store } = deps;

  return async (request: StartRequest): Promise<CheckedStart> => {
    const task = await findStartable(deps, request);
    const definition = await resolveSignatureFilters(store.read, definitionOf(task));
    const secrets = openedSecrets(task, store.secrets);
    assertAllowed(deps, request, definition);
    const plannedAt = Date.now();
    const plan = await planOf(deps, withSecrets(definition, secrets), request);
    await assertUnreserved(deps, plan, request);
    await assertRoom(deps);
    return { ...request, task, definition, secrets, plan, plannedAt };
  };
};
