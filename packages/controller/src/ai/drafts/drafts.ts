import type { AiDraft, AiPolicy, TaskDraft } from '@rushhour/contract';
import type { AiCaller } from '../../caller.ts';
import { one } from '../../crud.ts';
import { ApiError, conflict, forbidden, invalid, orNotFound, tooMany } from '../../errors.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { TaskPlanner } from '../../plan/core/create-planner.ts';
import { aiDrafts, countDrafts, type DraftRecord, findDraft } from '../../store/ai/ai-drafts.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Store } from '../../store/store.ts';
import { openTask, type StoredTask } from '../../store/tasks/tasks.ts';
import type { Filling } from '../../tasks/templates/fill.ts';
import { shownConflicts, type TaskOperations, visibleTask } from '../approvals/approval-tasks.ts';
import { digestOf } from '../approvals/digest.ts';
import { riskOf, targetsOf } from '../approvals/risk.ts';
import { createRedactor } from '../gateway/redact.ts';
import { type AiRules, modeFor } from '../keys/policy.ts';
import { seesProject } from '../keys/visibility.ts';
import { hideSecrets, markedPointers, resolveSecrets } from './drafts-secrets.ts';
import { applyPatch, PatchError, type PatchOperation } from './json-patch.ts';
import { mergeTask, withPluginIds } from './task-entries.ts';

export interface DraftDeps {
  readonly store: Store;
  readonly planner: TaskPlanner;
  readonly operations: TaskOperations;
  readonly rules: () => AiRules;
}

export interface DraftSource {
  readonly taskId?: number | undefined;
  readonly templateId?: number | undefined;
  readonly draftId?: number | undefined;
}

interface NewDraft extends Partial<Filling> {
  readonly name?: string;
  readonly from?: DraftSource;
  readonly task?: Task;
}

type Task = Record<string, unknown>;
const keptMs = 7 * 86_400_000;
const maxDrafts = 50;
const maxShown = 20;
const maxDraftChars = 1_048_576;
const hint = 'schema_get of "task" tells what is allowed';

const definitionOf = (task: StoredTask): Task => {
  const { comment, projectID, accessPlane, controlPlane, configuration, dumps, thresholds } = task;
  return { comment, projectID, accessPlane, controlPlane, configuration, dumps, thresholds };
};

const columnOf = (id: number, pointer: string) => ({ table: 'aiDrafts', id, column: `taskSecrets${pointer}` });

const createDraftContext = (deps: DraftDeps) => {
  const { store } = deps;
  const { secrets } = store;
  const redactor = createRedactor(secrets);
  return { ...deps, secrets, redactor };
};
type DraftContext = ReturnType<typeof createDraftContext>;

const openedOf = ({ secrets }: DraftContext, { id, taskSecrets }: DraftRecord): Record<string, string> =>
  Object.fromEntries(
    Object.entries(taskSecrets).map(([pointer, sealed]) => [pointer, secrets.open(sealed, columnOf(id, pointer))]),
  );

/** A draft with its secrets in clear: for checks and new tasks, never for answers. */
const clearOf = (context: DraftContext, draft: DraftRecord): Task =>
  resolveSecrets(context.redactor, draft.task, openedOf(context, draft)).task as Task;

const mustFind = (executor: Executor, { key }: AiCaller, id: number) =>
  orNotFound(findDraft(executor, key.id, id), 'draft', id);

const problemsOf = async ({ operations }: DraftContext, executor: Executor, task: Task) =>
  (await operations.check(executor, task)).map(({ path, code, message }) => ({ path, code, message, hint }));

const viewOf = async (context: DraftContext, executor: Executor, draft: DraftRecord): Promise<AiDraft> => {
  const { id, name, revision, task, expiresAt, createdAt, updatedAt } = draft;
  const problems = await problemsOf(context, executor, clearOf(context, draft));
  return { id, name, revision, task, problems, expiresAt, createdAt, updatedAt };
};

const write = async (
  { redactor, secrets }: DraftContext,
  tx: Change,
  id: number,
  clear: Task,
  more: Partial<DraftRecord>,
) => {
  const hidden = hideSecrets(redactor, clear);
  if (JSON.stringify(hidden.task).length > maxDraftChars) {
    throw new ApiError('tooLarge', 'DRAFT_TOO_LARGE', `a draft has ${maxDraftChars} characters at most`);
  }
  const sealed = Object.entries(hidden.secrets).map(
    ([pointer, value]) => [pointer, secrets.seal(value, columnOf(id, pointer))] as const,
  );
  const expiresAt = new Date(Date.parse(tx.now) + keptMs).toISOString();
  await aiDrafts.update(tx, id, { ...more, task: hidden.task, taskSecrets: Object.fromEntries(sealed), expiresAt });
};

/** The input of a key, refused if it contains forbidden members. */
const validTask = ({ redactor }: DraftContext, given: Task, stored: Readonly<Record<string, string>> = {}): Task => {
  const { task, issues } = resolveSecrets(redactor, withPluginIds(given), stored);
  if (issues.length > 0) throw invalid(issues, issues[0]?.code);
  return task as Task;
};

const opened = async ({ store, secrets }: DraftContext, caller: AiCaller, id: number) => {
  await visibleTask(store.read, caller, id);
  return definitionOf((await openTask(store.read, secrets, id)) as StoredTask);
};

const sourceOf = async (
  context: DraftContext,
  caller: AiCaller,
  { taskId, templateId, draftId }: DraftSource,
  { agentMap = {}, parameters = {} }: Partial<Filling>,
): Promise<Task> => {
  const { store, operations } = context;
  if (taskId !== undefined) return opened(context, caller, taskId);
  if (draftId !== undefined) return clearOf(context, await mustFind(store.read, caller, draftId));
  const filled = operations.fromTemplate(store.read, templateId ?? 0, { agentMap, parameters });
  return orNotFound(filled, 'task template', templateId ?? 0);
};

const patched = (
  context: DraftContext,
  draft: DraftRecord,
  { merge, ops }: { merge?: Task; ops?: readonly PatchOperation[] },
): Task => {
  if ((merge === undefined) === (ops === undefined)) {
    throw invalid([{ path: '', code: 'ONE_OF', message: 'needs either merge or ops' }]);
  }
  try {
    const next = ops ? applyPatch(draft.task, ops, markedPointers) : mergeTask(draft.task, merge ?? {});
    if (typeof next !== 'object' || next === null || Array.isArray(next)) {
      throw new PatchError('TYPE', ops ? '/ops' : '/merge', 'must leave an object');
    }
    return validTask(context, next as Task, openedOf(context, draft));
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw invalid([{ path: error.path, code: error.code, message: error.message }], error.code);
  }
};

const assertRevision = ({ id, revision }: DraftRecord, given: number | undefined) => {
  if (given === revision) return;
  throw conflict('DRAFT_CHANGED', `draft ${id} has revision ${revision}`, { id, revision, hint: 'read it again' });
};

/** The task a request refers to, with secrets in clear. */
const taskIn = async (context: DraftContext, caller: AiCaller, { draftId, taskId, task }: Meant): Promise<Task> => {
  const { store } = context;
  if ([draftId, taskId, task].filter((one) => one !== undefined).length !== 1) {
    throw invalid([{ path: '', code: 'ONE_OF', message: 'needs exactly one of draftId, taskId and task' }]);
  }
  if (draftId !== undefined) return clearOf(context, await mustFind(store.read, caller, draftId));
  return taskId === undefined ? validTask(context, task ?? {}) : opened(context, caller, taskId);
};

const shownPlan = async (
  { store, operations }: DraftContext,
  caller: AiCaller,
  plan: RunPlan,
  taskId: number | null,
) => ({
  ...plan.estimate,
  targets: (targetsOf(plan) ?? []).slice(0, maxShown),
  conflicts: await shownConflicts(store.read, caller, (await operations.conflictsOf(plan, taskId)).slice(0, maxShown)),
  notes: plan.notes,
});

const judge = async (
  { operations, store, redactor, rules }: DraftContext,
  { key }: AiCaller,
  task: Task,
  plan: RunPlan | undefined,
) => {
  const needs = plan && (await operations.dependenciesOf(store.read, { thresholds: [], ...task } as never));
  const facts = { definition: task as never, plan, isSpoofing: needs?.isSpoofing ?? false };
  const { risk } = riskOf('start', [facts], key.constraints);
  const shown = hideSecrets(redactor, task).task;
  return {
    ...{ risk, policyForThisKey: modeFor(risk, key.policy as AiPolicy, rules()), effectiveTask: shown },
    digest: digestOf({ task: shown, deps: needs?.fingerprints ?? {} }),
  };
};

const validateDraft = (context: DraftContext) => async (caller: AiCaller, meant: Meant) => {
  const { store, planner } = context;
  const task = await taskIn(context, caller, meant);
  const errors = await problemsOf(context, store.read, task);
  const plan = errors.length === 0 ? await planner.plan(task as never) : undefined;
  const issues = (plan?.issues ?? []).map(({ path, code, message, severity }) => ({
    path,
    code,
    message,
    severity,
  }));
  const pick = (isError: boolean) =>
    issues
      .filter(({ severity }) => (severity === 'error') === isError)
      .map(({ severity: _, ...problem }) => ({ ...problem, hint }));
  const all = [...errors, ...pick(true)];
  return {
    ...{ valid: all.length === 0, errors: all, warnings: pick(false) },
    ...(await judge(context, caller, task, plan)),
    plan: plan ? await shownPlan(context, caller, plan, meant.taskId ?? null) : {},
  };
};

/** Stores a task. The draft it comes from stays. */
const createTaskFromDraft =
  (context: DraftContext) =>
  async <T>(
    caller: AiCaller,
    { revision, ...meant }: Meant & { revision?: number },
    answer: (tx: Change, id: number) => Promise<T>,
  ) => {
    const { rules, store, operations } = context;
    const mode = modeFor('R1', caller.key.policy as AiPolicy, rules());
    if (mode !== 'auto') throw forbidden('AI_CONSTRAINT', `the policy of this key (${mode}) only allows drafts`);
    if (meant.draftId !== undefined) assertRevision(await mustFind(store.read, caller, meant.draftId), revision);
    const task = (await taskIn(context, caller, meant)) as unknown as TaskDraft;
    const issues = await operations.check(store.read, task);
    if (issues.length > 0) throw invalid(issues);
    if (!seesProject(caller.key, task.projectID ?? null)) {
      throw forbidden('AI_CONSTRAINT', 'this key may make tasks only in its projects', { constraint: 'projectIDs' });
    }
    return store.change(caller, async (tx) => answer(tx, await operations.create(tx, task)));
  };

/** Only a template has slots and parameters. */
const assertFilling = (from: DraftSource | undefined, filling: object) => {
  const given =
    from?.templateId === undefined ? Object.entries(filling).filter(([, value]) => value !== undefined) : [];
  if (given.length === 0) return;
  throw invalid(given.map(([name]) => ({ path: `/${name}`, code: 'NO_TEMPLATE', message: 'is only for a template' })));
};

const createDraft =
  (context: DraftContext) =>
  async (caller: AiCaller, { name = '', from, task, ...filling }: NewDraft) => {
    const { store } = context;
    if ((from === undefined) === (task === undefined)) {
      throw invalid([{ path: '', code: 'ONE_OF', message: 'needs either from or task' }]);
    }
    assertFilling(from, filling);
    const clear = from ? await sourceOf(context, caller, from, filling) : validTask(context, task ?? {});
    return store.change(caller, async (tx) => {
      if ((await countDrafts(tx, caller.key.id, tx.now)) >= maxDrafts) {
        throw tooMany('TOO_MANY_DRAFTS', `a key keeps ${maxDrafts} drafts at most: delete some`, 60);
      }
      const empty = { task: {}, taskSecrets: {}, expiresAt: tx.now };
      const id = await aiDrafts.insert(tx, { keyID: caller.key.id, name, revision: 1, ...empty });
      await write(context, tx, id, clear, {});
      return one(await viewOf(context, tx, (await aiDrafts.find(tx, id)) as DraftRecord));
    });
  };

/** Drafts of tasks, stored apart from tasks so that experiments leave nothing behind. */
export const createDrafts = (deps: DraftDeps) => {
  const context = createDraftContext(deps);
  const { store } = context;

  return {
    create: createDraft(context),

    get: async (caller: AiCaller, id: number) => viewOf(context, store.read, await mustFind(store.read, caller, id)),

    update: (
      caller: AiCaller,
      id: number,
      { revision, ...patch }: { revision: number; merge?: Task; ops?: readonly PatchOperation[] },
    ) =>
      store.change(caller, async (tx) => {
        const draft = await mustFind(tx, caller, id);
        assertRevision(draft, revision);
        await write(context, tx, id, patched(context, draft, patch), { revision: revision + 1 });
        return one(await viewOf(context, tx, (await aiDrafts.find(tx, id)) as DraftRecord));
      }),

    remove: (caller: AiCaller, id: number) =>
      store.change(caller, async (tx) => {
        await mustFind(tx, caller, id);
        await aiDrafts.remove(tx, [id]);
        return one({ deleted: true });
      }),

    validate: validateDraft(context),

    createTask: createTaskFromDraft(context),
  };
};

interface Meant {
  readonly draftId?: number;
  readonly taskId?: number;
  readonly task?: Task;
}

export type Drafts = ReturnType<typeof createDrafts>;
