import type { api } from '@rushhour/contract';
import { notFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { UnknownMetric } from '../../metrics/read/unknown-metric.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runs } from '../../store/runs/runs.ts';
import { findTask } from '../../store/tasks/tasks.ts';
import { compareMetrics, unknownOf, verdictOf } from './comparison.ts';
import { configSnapshotOf } from './run-detail.ts';
import { readRuns } from './run-record.ts';

interface Difference {
  /** JSON pointer. */
  path: string;
  base: unknown;
  target: unknown;
}

const maxDifferences = 1000;

const isBranch = (value: unknown): value is Record<string, unknown> | unknown[] =>
  typeof value === 'object' && value !== null;

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** The differences of two JSON values at the deepest pointers. A missing value is null. */
export const configDiff = (base: unknown, target: unknown): Difference[] => {
  const found: Difference[] = [];
  const compare = (path: string, a: unknown, b: unknown) => {
    if (found.length >= maxDifferences) return;
    if (isBranch(a) && isBranch(b) && Array.isArray(a) === Array.isArray(b)) {
      const [one, other] = [a, b] as Record<string, unknown>[];
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        compare(`${path}/${escaped(key)}`, one?.[key], other?.[key]);
      }
    } else if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ path, base: a ?? null, target: b ?? null });
  };
  compare('', base, target);
  return found;
};

export type RunComparison = Awaited<ReturnType<Handlers<typeof api.tasks>['compare']>>['data'];

const findAnyRun = async (read: Executor, id: number) => {
  const run = await runs.find(read, id);
  if (run === undefined || (await findTask(read, run.taskID)) === undefined) throw notFound('run', id);
  return run;
};

interface LoadRequest {
  base: number;
  target: number;
  /** Smaller changes are ignored. */
  tolerancePct: number;
  wanted: readonly string[] | undefined;
}

/** Compares two runs of any tasks. Throws `UnknownMetric`. */
export const compareRuns = async (
  { read, metrics }: { read: Executor; metrics: Pick<Metrics, 'metricsOf' | 'totalsOf'> },
  { base, target, tolerancePct, wanted }: LoadRequest,
): Promise<RunComparison> => {
  const [from, to] = [await findAnyRun(read, base), await findAnyRun(read, target)];
  // A counter missing in one run is 0 there if the run could have counted it.
  const names = [...new Set([...(await metrics.metricsOf(base)), ...(await metrics.metricsOf(target))])];
  const before = await metrics.totalsOf(base, { metrics: names });
  const after = await metrics.totalsOf(target, { metrics: names });
  const unknown = unknownOf(wanted ?? [], before, after);
  if (unknown.length > 0) throw new UnknownMetric(unknown, names.sort());
  const compared = compareMetrics(before, after, { tolerancePct, wanted });
  const [baseRun] = await readRuns(read, [from]);
  const [targetRun] = await readRuns(read, [to]);
  return {
    base: baseRun as RunComparison['base'],
    target: targetRun as RunComparison['target'],
    configDiff: configDiff(configSnapshotOf(from), configSnapshotOf(to)),
    metrics: compared,
    verdict: verdictOf(compared),
  };
};
