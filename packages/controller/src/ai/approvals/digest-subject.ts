import { hash } from 'node:crypto';
import { agents } from '../../store/agents/agents.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Store } from '../../store/store.ts';
import { openedSecrets, type StoredTask, tasks } from '../../store/tasks/tasks.ts';
import { valueAt } from '../drafts/json-patch.ts';
import { changedPointers, digestOf } from './digest.ts';
import type { TaskAction } from './risk.ts';

/** The dependencies of a task. */
export interface TaskDependencies {
  /** By kind and id. Secrets are represented by keyed hashes. */
  readonly fingerprints: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly agentIds: readonly number[];
  /** Sources need not belong to an interface. */
  readonly isSpoofing: boolean;
}

export type ReadDependencies = (executor: Executor, task: StoredTask) => Promise<TaskDependencies>;

interface Deps {
  readonly store: Pick<Store, 'secrets'>;
  readonly dependenciesOf: ReadDependencies;
}

/** The part of a request that is in the digest. */
export interface Asked {
  readonly action: TaskAction;
  readonly params: Readonly<Record<string, unknown>>;
  readonly keyId: number;
  readonly taskIds: readonly number[];
  readonly policy: { readonly class: string; readonly mode: string; readonly version: number };
}

const idle = [0, 7, 8, 9];
const stateNames = ['', 'starting', 'starting', 'starting', 'running', 'paused', 'stopping'];

/** A stop applies to the current run of the task. */
const stateOf = (action: TaskAction, status: number) => {
  if (idle.includes(status)) return 'idle';
  return action === 'stop' ? 'active' : (stateNames[status] ?? 'unknown');
};

const withSecrets = (configuration: StoredTask['configuration'], hashes: Readonly<Record<string, string>>) => {
  const copy = { configuration: structuredClone(configuration) };
  for (const [pointer, value] of Object.entries(hashes)) {
    const at = pointer.lastIndexOf('/');
    const holder = valueAt(copy, pointer.slice(0, at)) as Record<string, unknown> | undefined;
    if (holder !== undefined) holder[pointer.slice(at + 1)] = value;
  }
  return copy.configuration;
};

/** A keyed hash of a secret: it reveals only whether the secret changed. */
export const secretHash = ({ derive }: Pick<Store['secrets'], 'derive'>, value: string) =>
  `hmac:${derive('digest', value).toString('hex')}`;

/** A task without its results and names. */
const identityOf = (task: StoredTask, secrets: Store['secrets']) => {
  const { projectID, accessPlane, controlPlane, dumps, thresholds } = task;
  const hashes = Object.entries(openedSecrets(task, secrets)).map(
    ([pointer, value]) => [pointer, secretHash(secrets, value)] as const,
  );
  const configuration = withSecrets(task.configuration, Object.fromEntries(hashes));
  return { projectID, accessPlane, controlPlane, configuration, dumps, thresholds };
};

const identitiesOf = async (executor: Executor, ids: readonly number[]) =>
  Object.fromEntries(
    (await agents.findMany(executor, ids)).map(({ id, publicKey }) => [id, hash('sha256', publicKey, 'hex')]),
  );

const readTask = async ({ store, dependenciesOf }: Deps, executor: Executor, id: number, action: TaskAction) => {
  const task = await tasks.find(executor, id);
  if (task === undefined || task.deletedAt !== null)
    return { task: { id, state: 'deleted' }, fingerprints: {}, agentIds: [] };
  const { fingerprints, agentIds } = await dependenciesOf(executor, task);
  const { agents: _, ...others } = fingerprints;
  return {
    task: { id, definition: identityOf(task, store.secrets), state: stateOf(action, task.status) },
    fingerprints: others,
    agentIds,
  };
};

export type Subject = Record<string, unknown>;

/** Everything a decision about tasks depends on. Equal digests mean that nothing has changed. */
export const createSubjects =
  (deps: Deps) =>
  async (executor: Executor, asked: Asked): Promise<Subject> => {
    const taskIds = [...asked.taskIds].sort((a, b) => a - b);
    const read: Awaited<ReturnType<typeof readTask>>[] = [];
    for (const id of taskIds) read.push(await readTask(deps, executor, id, asked.action));
    const dependencies: Record<string, Record<string, string>> = {};
    for (const { fingerprints } of read) {
      for (const [kind, byId] of Object.entries(fingerprints)) dependencies[kind] = { ...dependencies[kind], ...byId };
    }
    const { action, params, keyId, policy } = asked;
    return {
      ...{ v: 1, action, params, keyId, taskIds, policy },
      tasks: Object.fromEntries(read.map(({ task }) => [task.id, task])),
      deps: dependencies,
      agents: await identitiesOf(executor, [...new Set(read.flatMap(({ agentIds }) => agentIds))]),
    };
  };

/** The digest of a task and its dependencies; approvals add the requested action. */
export const createTaskDigest = (deps: Deps) => {
  const subjectOf = createSubjects(deps);
  return async (executor: Executor, id: number): Promise<string> => {
    const {
      tasks: read,
      deps: needs,
      agents: identities,
    } = await subjectOf(executor, {
      ...{ action: 'start', params: {}, keyId: 0, taskIds: [id] },
      policy: { class: '', mode: '', version: 0 },
    });
    return digestOf({ read, needs, identities });
  };
};

/** The differences of two subjects: pointers into the task if there is one, else `/tasks/<id>/…`. */
export const changesBetween = (before: Subject, after: Subject): string[] => {
  const { taskIds = [] } = before as { taskIds?: number[] };
  const own = taskIds.length === 1 ? `/tasks/${taskIds[0]}` : undefined;
  const shown = (pointer: string) => {
    const inTask = own !== undefined && pointer.startsWith(own) ? pointer.slice(own.length) : pointer;
    return inTask.replace(/^(\/tasks\/\d+)?\/definition(?=\/|$)/, '$1') || '/';
  };
  return changedPointers(before, after).map(shown);
};

/** Incremented by every write of the task. */
export const revisionOf = ({ updatedAt }: Pick<StoredTask, 'updatedAt'>) => Date.parse(updatedAt);
