import type { api, RunTable } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { createSharedReads } from '../../concurrency/shared-reads.ts';
import { cursorOf, one, pageRequestOf } from '../../crud.ts';
import { conflict, invalid, notFound, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { UnknownMetric } from '../../metrics/read/unknown-metric.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import { runEventPage, runLogs } from '../../store/runs/run-history.ts';
import { runRowPage } from '../../store/runs/run-rows.ts';
import { newestRunOf, runs as runTable } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { findTask } from '../../store/tasks/tasks.ts';
import { compareRuns } from './compare-runs.ts';
import { logLineOf } from './log-line.ts';
import { awaitStatus } from './long-poll.ts';
import { readRunAgent, tableRowsOf } from './run-agents.ts';
import { readRunResult } from './run-detail.ts';
import { readRuns } from './run-record.ts';
import { removeRunsOf } from './run-removal.ts';
import { readTaskStatus } from './task-status.ts';
import { eventOf, TaskStream } from './task-stream.ts';

interface Deps {
  store: Store;
  bus: Bus;
  metrics: Metrics;
  runs: Pick<Runs, 'queuePositionOf'>;
}

type ResultHandlers = Pick<
  Handlers<typeof api.tasks>,
  | 'status'
  | 'metrics'
  | 'stream'
  | 'events'
  | 'logs'
  | 'runs'
  | 'removeRuns'
  | 'run'
  | 'series'
  | 'runAgents'
  | 'compare'
>;

const levels = ['debug', 'info', 'warn', 'error'] as const;
const endOfTime = '9999-12-31T23:59:59.999Z';
const isoOf = (time: string | undefined, otherwise: string) =>
  time === undefined ? otherwise : new Date(time).toISOString();
const listOf = (text: string | undefined) => text?.split(',');

const assertTask = async (read: Executor, id: number) => {
  await orNotFound(findTask(read, id), 'task', id);
};

/** A run of this task. */
const findRun = async (read: Executor, { id, runId }: { id: number; runId: number }) => {
  await assertTask(read, id);
  const run = await runTable.find(read, runId);
  if (run === undefined || run.taskID !== id) throw notFound('run', runId);
  return run;
};

/** The default run: the newest. */
const chosenRun = async (read: Executor, id: number, runId: number | undefined) => {
  if (runId !== undefined) return (await findRun(read, { id, runId })).id;
  await assertTask(read, id);
  return (await newestRunOf(read, id))?.id;
};

/** Unknown names are a client error. */
const withKnownMetrics = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnknownMetric)) throw error;
    const issue = { in: 'query', path: '/metrics', code: 'UNKNOWN_METRIC' } as const;
    const refusal = invalid(
      error.metrics.map((name) => ({ ...issue, message: `names no metric of the run: ${name}` })),
    );
    Object.assign(refusal.data, { known: error.known });
    throw refusal;
  }
};

interface TableRequest {
  readonly table: RunTable;
  readonly agentID?: number | undefined;
  readonly state?: string | undefined;
  readonly search?: string | undefined;
  readonly router?: string | undefined;
  readonly neighbour?: string | undefined;
  readonly protocol?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

type RunOfTable = Awaited<ReturnType<typeof findRun>>;

const readTable = async (read: Executor, run: RunOfTable, request: TableRequest) => {
  const { table, agentID = 0, state = '', search = '', limit, offset } = request;
  const { router = '', neighbour = '', protocol = '' } = request;
  const filter = { runID: run.id, tableName: table, agentID, state, search, router, neighbour, protocol };
  const { rows, total } = await runRowPage(read, { ...filter, limit, offset });
  return { cursor: cursorOf(limit, offset, total), data: tableRowsOf(rows, run) };
};

/** Watches runs and reads their results. */
export const runResultHandlers = (deps: Deps): ResultHandlers => ({
  ...watching(deps),
  ...history(deps),
  ...measurements(deps),
});

const watching = ({ store, bus, metrics, runs }: Deps): Pick<ResultHandlers, 'status' | 'metrics' | 'stream'> => {
  const { read } = store;
  const share = createSharedReads();
  const statusDeps = { read, metrics, runs };
  return {
    status: async ({ params: { id }, query: { waitSec = 0, since } }, { signal }) => ({
      data: await awaitStatus(bus, { taskId: id, since, waitMs: waitSec * 1000, signal }, () =>
        readTaskStatus(statusDeps, id),
      ),
    }),
    metrics: async ({ params: { id }, query: { metrics: names, by } }) => {
      const runId = await chosenRun(read, id, undefined);
      if (runId === undefined) throw conflict('NEVER_RUN', `task ${id} has not been run`);
      const found = await withKnownMetrics(() => metrics.latest(runId, { metrics: listOf(names), by }));
      return { data: found ?? { runId, ts: null, seq: 0, values: [] } };
    },
    stream: async ({ params: { id }, query: { types, metrics: names, by, since } }, caller) => {
      const runId = await chosenRun(read, id, undefined);
      const selection = { metrics: listOf(names), by };
      if (runId !== undefined) await withKnownMetrics(() => metrics.latest(runId, selection));
      const { signal, lastEventId } = caller;
      const options = { taskId: id, types: new Set(listOf(types)), selection, since: lastEventId ?? since, signal };
      return new TaskStream({ ...statusDeps, bus, share }, options).events();
    },
  };
};

const history = ({ store, metrics }: Deps): Pick<ResultHandlers, 'events' | 'logs' | 'runs' | 'removeRuns' | 'run'> => {
  const { read } = store;
  return {
    events: async ({ params: { id }, query }) => {
      const { count = 20, page = 1, order = 'asc', runId, type = '', from, to } = query;
      const runID = await chosenRun(read, id, runId);
      const offset = (page - 1) * count;
      const wanted = { type, from: isoOf(from, ''), to: isoOf(to, endOfTime), limit: count, offset };
      const { rows, total } =
        runID === undefined ? { rows: [], total: 0 } : await runEventPage(read, order, { runID, ...wanted });
      return { cursor: cursorOf(count, offset, total), data: rows.map(eventOf) };
    },
    logs: async ({ params: { id }, query }) => {
      const { count = 20, page = 1, runId, agentID, level, search } = query;
      const runID = await chosenRun(read, id, runId);
      const offset = (page - 1) * count;
      const wanted = level === undefined ? undefined : JSON.stringify(levels.slice(levels.indexOf(level)));
      const filters = { runID: runID ?? 0, agentID, levels: wanted };
      const request = { key: 'id', order: 'asc', limit: count, offset, search, filters } as const;
      const { rows, total } = await runLogs.page(read, request);
      return { cursor: cursorOf(count, offset, total), data: rows.map(logLineOf) };
    },
    runs: async ({ params: { id }, query }) => {
      await assertTask(read, id);
      const request = pageRequestOf(query, 'id');
      const filters = { ...request.filters, taskID: id };
      const { rows, total } = await runTable.page(read, { ...request, filters });
      return { cursor: cursorOf(request.limit, request.offset, total), data: await readRuns(read, rows) };
    },
    removeRuns: ({ params: { id }, body }, caller) =>
      store.change(caller, async (tx) => {
        await assertTask(tx, id);
        return { data: await removeRunsOf(tx, id, body.array) };
      }),
    run: async ({ params, query: { full = false } }) =>
      one(await readRunResult({ read, metrics }, await findRun(read, params), full)),
  };
};

const measurements = ({
  store: { read },
  metrics,
}: Deps): Pick<ResultHandlers, 'series' | 'runAgents' | 'compare'> => ({
  series: async ({ params, query: { metrics: names, from, to, ...query } }) => {
    const run = await findRun(read, params);
    const times = { from: from && Date.parse(from), to: to && Date.parse(to) };
    const selection = { ...query, metrics: names.split(','), from: times.from || undefined, to: times.to || undefined };
    return { data: await withKnownMetrics(() => metrics.series(run.id, selection)) };
  },
  runAgents: async ({ params, query: { count = 20, page = 1, table, ...filter } }) => {
    const run = await findRun(read, params);
    const offset = (page - 1) * count;
    if (table !== undefined) return readTable(read, run, { ...filter, table, limit: count, offset });
    const all = await runAgentsOf(read, run.id);
    const data = [];
    for (const agent of all.slice(offset, offset + count)) data.push(await readRunAgent({ read, metrics }, agent));
    return { cursor: cursorOf(count, offset, all.length), data };
  },
  compare: async ({ query: { base, target, metrics: names, tolerancePct = 5 } }) => {
    const wanted = listOf(names);
    return {
      data: await withKnownMetrics(() => compareRuns({ read, metrics }, { base, target, tolerancePct, wanted })),
    };
  },
});
