import { type api, isActive, runStatus, type TaskDraft } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { cursorOf, one, pageRequestOf } from '../../crud.ts';
import { type Issue, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { devicesOfRuns } from '../../store/runs/run-devices.ts';
import type { Store } from '../../store/store.ts';
import { countTasks, deletedFilter, findTask, tasks } from '../../store/tasks/tasks.ts';
import { definitionIssues } from '../check/check-definition.ts';
import { referenceIssues } from '../check/reference-rules.ts';
import { readDeviceRuns } from '../results/device-runs.ts';
import { eachTask, moveTask, type RunStopper, removeTask, restoreTask } from './removal.ts';
import { readable } from './stored-task.ts';
import { patchedDefinition, updateTask } from './update-task.ts';
import { assertProject, assertValidTask, definitionOf, insertTask } from './write-task.ts';

interface CloneOptions {
  readonly comment?: string;
  readonly projectID?: number | null;
  readonly overrides?: Partial<Omit<TaskDraft, 'projectID'>>;
}

/** Issues of given values point into the request; issues of copied values name their source. */
const requestIssue =
  (id: number, overrides: object) =>
  (issue: Issue): Issue => {
    const member = issue.path.split('/')[1] ?? '';
    if (Object.hasOwn(overrides, member)) return { ...issue, path: `/overrides${issue.path}` };
    return { ...issue, message: `${issue.message} (of task ${id})` };
  };

/** Copies the definition and thresholds of a task, not its results. */
const cloneTask = async (tx: Change, secrets: Secrets, id: number, options: CloneOptions): Promise<number> => {
  const task = await orNotFound(findTask(tx, id), 'task', id);
  const { overrides = {}, projectID = task.projectID } = options;
  const { after } = patchedDefinition(task, overrides, secrets);
  const issues = [...definitionIssues(after), ...(await referenceIssues(tx, after))];
  if (issues.length > 0) throw invalid(issues.map(requestIssue(id, overrides)));
  await assertProject(tx, projectID);
  const comment = options.comment ?? overrides.comment ?? task.comment;
  return insertTask(tx, secrets, { ...after, comment, projectID, thresholds: task.thresholds, device: task.device });
};

interface Deps {
  store: Store;
  bus: Bus;
  runs: RunStopper;
}

type Handled = 'list' | 'create' | 'update' | 'removeMany' | 'get' | 'restore' | 'move' | 'clone' | 'counters';

export const taskRecordHandlers = ({ store, bus, runs }: Deps): Pick<Handlers<typeof api.tasks>, Handled> => {
  const { secrets } = store;
  const findReadable = (id: number) => orNotFound(findTask(store.read, id), 'task', id);

  return {
    list: async ({ query: { full = false, status, deleted = 'no', ...query } }) => {
      const request = pageRequestOf(query, 'id');
      const filters = { ...request.filters, ...deletedFilter(deleted), status: status && `[${status}]` };
      const { rows, total } = await tasks.page(store.read, { ...request, filters, isLight: !full });
      return { cursor: cursorOf(request.limit, request.offset, total), data: rows.map(readable) };
    },
    get: async ({ params }) => one(readable(await findReadable(params.id))),
    create: ({ body }, caller) => {
      const { comment = '', projectID = null, device = null } = body;
      const definition = definitionOf(body);
      const issues = definitionIssues(definition);
      return store.change(caller, async (tx) => {
        await assertValidTask(tx, definition, issues);
        await assertProject(tx, projectID);
        return { data: await insertTask(tx, secrets, { ...definition, comment, projectID, thresholds: [], device }) };
      });
    },
    update: ({ body }, caller) => store.change(caller, (tx) => updateTask(tx, { secrets, bus }, body)),
    removeMany: ({ body: { array, force = false } }, caller) =>
      store.change(caller, (tx) => eachTask(array, (id) => removeTask(tx, id, runs, force))),
    restore: ({ body: { array } }, caller) =>
      store.change(caller, (tx) => eachTask(array, (id) => restoreTask(tx, id))),
    move: ({ body: { array, projectID } }, caller) =>
      store.change(caller, async (tx) => {
        await assertProject(tx, projectID);
        return eachTask(array, (id) => moveTask(tx, id, projectID));
      }),
    clone: ({ params, body = {} }, caller) =>
      store.change(caller, async (tx) => ({ data: await cloneTask(tx, secrets, params.id, body) })),
    counters: async ({ query }) => ({ data: await readCounters(store.read, query) }),
  };
};

interface CounterOptions {
  readonly projectID?: number;
  readonly from?: string;
  readonly to?: string;
  readonly devices?: boolean;
  readonly device?: string;
}

const readCounters = async (read: Executor, options: CounterOptions) => {
  const { devices = false, device = '', ...query } = options;
  return {
    ...summed(await countTasks(read, query)),
    ...(devices && { devices: await devicesOfRuns(read) }),
    ...(device !== '' && { deviceRuns: await readDeviceRuns(read, device) }),
  };
};

type Counted = Awaited<ReturnType<typeof countTasks>>;

const summed = (groups: Counted) => {
  const sum = (fits: (group: Counted[number]) => boolean) =>
    groups.filter(fits).reduce((total, { count }) => total + Number(count), 0);
  const by = (nameOf: (group: Counted[number]) => number) =>
    Object.fromEntries(
      [...new Set(groups.map(nameOf))].sort((a, b) => a - b).map((name) => [name, sum((g) => nameOf(g) === name)]),
    );
  return {
    byStatus: by(({ status }) => status),
    byVerdict: by(({ verdict }) => Number(verdict)),
    active: sum(({ status }) => isActive(status)),
    error: sum(({ status }) => status === runStatus.failed),
    scheduled: sum(({ scheduled }) => scheduled === 1),
  };
};
