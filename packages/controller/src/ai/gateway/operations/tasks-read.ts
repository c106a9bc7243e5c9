import { type api, entriesOf, findPlugin, runStatus, taskReferences, verdicts } from '@rushhour/contract';
import type { Bus } from '../../../bus/local.ts';
import type { AiCaller } from '../../../caller.ts';
import { cursorOf, one, pageRequestOf } from '../../../crud.ts';
import { notFound } from '../../../errors.ts';
import type { Handlers } from '../../../handler.ts';
import type { Metrics } from '../../../metrics/metrics.ts';
import type { Executor } from '../../../store/engine/database.ts';
import { newestRunOf } from '../../../store/runs/runs.ts';
import type { Store } from '../../../store/store.ts';
import { deletedFilter, findTask, openedSecrets, type StoredTask, tasks } from '../../../store/tasks/tasks.ts';
import { seesProject } from '../../keys/visibility.ts';
import { partAt } from '../economy.ts';
import { createRedactor } from '../redact.ts';
import { sanitizeForModel } from '../sanitize.ts';
import { nameIn } from './names.ts';
import type { Records } from './records.ts';

const pollMs = 500;

/** Reads until there is news, the time is up or the client disconnects; returns the last result. */
const untilNews = async <T>(
  bus: Bus,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  read: () => Promise<T>,
  isNew: (found: T) => boolean,
): Promise<T> => {
  const giveUpAt = Date.now() + waitMs;
  for (;;) {
    const news = Promise.withResolvers<void>();
    const leave = bus.subscribe('run.changed', () => news.resolve());
    const timer = setTimeout(() => news.resolve(), Math.min(pollMs, Math.max(0, giveUpAt - Date.now())));
    try {
      const found = await read();
      if (isNew(found) || Date.now() >= giveUpAt || signal.aborted) return found;
      await news.promise;
    } finally {
      leave();
      clearTimeout(timer);
    }
  }
};

interface Deps {
  store: Store;
  bus: Bus;
  metrics: Metrics;
  records: Pick<Records, 'tasks'>;
  approvals: { digestOfTask(executor: Executor, id: number): Promise<string> };
}

/** A task visible to this key. */
export const mustSee = async (read: Executor, { key }: AiCaller, id: number): Promise<StoredTask> => {
  const task = await findTask(read, id);
  if (task === undefined || !seesProject(key, task.projectID)) throw notFound('task', id);
  return task;
};

const summaryOf = (task: Awaited<ReturnType<typeof tasks.page>>['rows'][number]) => ({
  id: task.id,
  untrustedComment: sanitizeForModel(task.comment, 200),
  status: task.status,
  statusName: nameIn(runStatus, task.status),
  verdict: nameIn(verdicts, Number(task.verdict)),
  projectID: task.projectID,
  lastRunId: task.lastRunID,
  revision: Date.parse(task.updatedAt),
  createdAt: task.createdAt,
  startedAt: task.startedAt,
  finishedAt: task.finishedAt,
  ...(task.error !== '' && { untrustedError: sanitizeForModel(task.error, 500) }),
});

const entrySummaries = (task: StoredTask) =>
  entriesOf(task.configuration).map(({ path, pluginId, values }) => ({
    path,
    pluginId,
    plugin: findPlugin(pluginId)?.name ?? '',
    members: Object.keys(values ?? {}),
  }));

const rates = async (metrics: Metrics, runId: number | null) => {
  const latest = runId === null ? undefined : await metrics.latest(runId);
  return (latest?.values ?? []).flatMap(({ metrics: values }) =>
    values.filter(({ rate }) => typeof rate === 'number').map(({ metric, unit, rate }) => ({ metric, unit, rate })),
  );
};

const createTaskContext = (deps: Deps) => {
  const { store } = deps;
  const { read, secrets } = store;
  const { redactSealed } = createRedactor(secrets);
  return { ...deps, redactSealed, secrets, read };
};
type TaskContext = ReturnType<typeof createTaskContext>;

const definitionOf = ({ redactSealed, secrets }: TaskContext, task: StoredTask) => {
  const { configurationSecrets: _, issuer: __, issuerID: ___, ...shown } = task;
  const { projectName: ____, projectArchivedAt: _____, ...members } = shown;
  return { ...redactSealed(members, openedSecrets(task, secrets)), untrusted: true };
};

const statusOf = async ({ read }: TaskContext, caller: AiCaller, id: number) => {
  const task = await mustSee(read, caller, id);
  const run = await newestRunOf(read, id);
  return { task, run, revision: Math.max(Date.parse(task.updatedAt), run ? Date.parse(run.updatedAt) : 0) };
};

const taskStatus =
  (context: TaskContext): Pick<Handlers<typeof api.aiGateway>, 'tasks' | 'task' | 'taskStatus'>['taskStatus'] =>
  async ({ params: { id }, query: { wait = 0, since } }, caller) => {
    const { bus, records, metrics } = context;
    const found = await untilNews(
      bus,
      { waitMs: wait * 1000, signal: caller.signal },
      () => statusOf(context, caller, id),
      ({ revision }) => since === undefined || revision > since,
    );
    const { data } = await records.tasks.status({ params: { id }, query: {} }, caller as never);
    const { error, ...status } = data;
    return one({
      ...status,
      revision: found.revision,
      rates: await rates(metrics, found.run?.id ?? null),
      ...(error !== '' && { untrustedError: sanitizeForModel(error) }),
    });
  };

const listTasks =
  ({ read }: TaskContext): Pick<Handlers<typeof api.aiGateway>, 'tasks' | 'task' | 'taskStatus'>['tasks'] =>
  async ({ query: { q, status, from, to, ...query } }, { key }) => {
    const { filters, ...request } = pageRequestOf({ ...query, ...(q !== undefined && { search: q }) }, 'id');
    const { projectIDs } = key.constraints;
    const wanted = {
      ...filters,
      ...deletedFilter('no'),
      status: status === undefined ? undefined : `[${status}]`,
      projectIDs: projectIDs && JSON.stringify(projectIDs),
      createdFrom: from && new Date(from).toISOString(),
      createdTo: to && new Date(to).toISOString(),
    };
    const { rows, total } = await tasks.page(read, { ...request, filters: wanted, isLight: true });
    return { cursor: cursorOf(request.limit, request.offset, total), data: rows.map(summaryOf) };
  };

/** Tasks as a model reads them. */
export const taskReadHandlers = (deps: Deps): Pick<Handlers<typeof api.aiGateway>, 'tasks' | 'task' | 'taskStatus'> => {
  const context = createTaskContext(deps);
  const { read, approvals } = context;

  return {
    tasks: listTasks(context),

    task: async ({ params: { id }, query: { view, path } }, caller) => {
      const task = await mustSee(read, caller, id);
      const definition = definitionOf(context, task);
      if (path !== undefined && path !== '') return one(partAt(definition, path));
      const facts = {
        ...summaryOf(task),
        digest: await approvals.digestOfTask(read, id),
        dependencies: taskReferences(task).map(({ kind, id: recordId }) => ({ kind, id: recordId })),
      };
      return one(view === 'full' ? { ...definition, ...facts } : { ...facts, entries: entrySummaries(task) });
    },

    taskStatus: taskStatus(context),
  };
};
