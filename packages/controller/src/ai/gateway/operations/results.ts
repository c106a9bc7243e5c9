import type { api, RunResult } from '@rushhour/contract';
import type { AiCaller } from '../../../caller.ts';
import { cursorOf, one } from '../../../crud.ts';
import { conflict, invalid } from '../../../errors.ts';
import type { Handlers } from '../../../handler.ts';
import type { Metrics } from '../../../metrics/metrics.ts';
import { UnknownMetric } from '../../../metrics/read/unknown-metric.ts';
import { severeEvents } from '../../../store/ai/ai-state.ts';
import { newestRunOf, type RunRecord } from '../../../store/runs/runs.ts';
import type { Store } from '../../../store/store.ts';
import { sanitizeForModel } from '../sanitize.ts';
import type { Records } from './records.ts';
import { markdownOf, reportOf } from './report.ts';
import { mustSee } from './tasks-read.ts';

interface Deps {
  store: Store;
  metrics: Metrics;
  records: Pick<Records, 'tasks'>;
}

const severities = ['info', 'warning', 'error'] as const;

/** Metrics that the run lacks are a client error. */
const withKnownMetrics = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnknownMetric)) throw error;
    const message = `the run has no such metric; it has ${error.known.slice(0, 40).join(', ')}`;
    throw invalid(
      error.metrics.map(() => ({ in: 'query', path: '/series', code: 'UNKNOWN_METRIC', message }) as const),
    );
  }
};

const isoMs = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));

/** Seconds between points, to limit their number. */
const stepFor = ({ t0, finishedAt }: RunRecord, from: number | undefined, to: number | undefined, points: number) => {
  const end = to ?? (finishedAt === null ? Date.now() : Date.parse(finishedAt));
  const begin = from ?? t0 ?? end;
  return Math.max(1, Math.ceil((end - begin) / 1000 / points));
};

const resultOf = async ({ store, records }: Deps, caller: AiCaller, id: number): Promise<RunResult | undefined> => {
  await mustSee(store.read, caller, id);
  const run = await newestRunOf(store.read, id);
  if (run === undefined) return undefined;
  return (await records.tasks.run({ params: { id, runId: run.id }, query: {} }, caller as never)).data;
};

const deltasFrom = async ({ store, records }: Deps, caller: AiCaller, baseline: number, target: number) => {
  await mustSee(store.read, caller, baseline);
  const base = await newestRunOf(store.read, baseline);
  if (base === undefined) throw conflict('NO_RESULTS', `task ${baseline} has no results yet`, { id: baseline });
  const { data } = await records.tasks.compare({ query: { base: base.id, target } }, caller as never);
  return { baseline, verdict: data.verdict, metrics: data.metrics };
};

const taskResults =
  (deps: Deps): Pick<Handlers<typeof api.aiGateway>, 'taskResults' | 'taskEvents' | 'taskReport'>['taskResults'] =>
  async ({ params: { id }, query }, caller) => {
    const { store, metrics } = deps;
    const { series: names = [], maxPoints = 100, agg, baseline } = query;
    const result = await resultOf(deps, caller, id);
    const run = await newestRunOf(store.read, id);
    if (result === undefined || run === undefined) return one({ runId: null, summary: [], series: null });
    const [from, to] = [isoMs(query.from), isoMs(query.to)];
    const selection = { metrics: names, from, to, agg, step: stepFor(run, from, to, maxPoints) };
    const series = names.length === 0 ? null : await withKnownMetrics(() => metrics.series(run.id, selection as never));
    const { status, verdict, validity, startedAt, finishedAt, durationSec, summary, thresholds } = result;
    return one({
      ...{
        runId: run.id,
        status,
        verdict,
        validity,
        startedAt,
        finishedAt,
        durationSec,
        summary,
        thresholds,
        series,
      },
      ...(baseline !== undefined && { deltas: await deltasFrom(deps, caller, baseline, run.id) }),
    });
  };

/** Results of runs. */
export const resultHandlers = (
  deps: Deps,
): Pick<Handlers<typeof api.aiGateway>, 'taskResults' | 'taskEvents' | 'taskReport'> => {
  const { store } = deps;

  return {
    taskResults: taskResults(deps),

    taskEvents: async ({ params: { id }, query }, caller) => {
      const { count = 20, page = 1, order = 'desc', since, level = 'info' } = query;
      await mustSee(store.read, caller, id);
      const run = await newestRunOf(store.read, id);
      const offset = (page - 1) * count;
      const options = {
        runID: run?.id ?? 0,
        since: since === undefined ? '' : new Date(since).toISOString(),
        severities: JSON.stringify(severities.slice(severities.indexOf(level))),
      };
      const { rows, total } = await severeEvents(store.read, order, { ...options, limit: count, offset });
      const data = rows.map(({ ts, severity, source, type, message, agentID }) => ({
        ...{ at: ts, level: severity, source, code: type, agentID },
        untrustedMessage: sanitizeForModel(message),
      }));
      return { cursor: cursorOf(count, offset, total), data };
    },

    taskReport: async ({ params: { id }, query: { format = 'json', maxChars = 6000 } }, caller) => {
      const result = await resultOf(deps, caller, id);
      if (result === undefined || result.startedAt === null)
        throw conflict('NO_RESULTS', `task ${id} has no results yet`, { id });
      const report = reportOf(id, result, maxChars);
      if (format === 'json') return one({ ...report, format });
      return one({ format, taskId: id, runId: result.id, ...markdownOf(report, maxChars) });
    },
  };
};
