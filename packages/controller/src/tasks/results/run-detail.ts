import {
  type ConfigurationEntry,
  isTerminal,
  type RunResult,
  type RunSummary,
  type Threshold,
  type ThresholdResult,
} from '@rushhour/contract';
import type { Metrics } from '../../metrics/metrics.ts';
import { readRfc2544 } from '../../metrics/read/rfc2544.ts';
import type { Executor } from '../../store/engine/database.ts';
import { runEventsOf } from '../../store/runs/run-events.ts';
import { runTableStates } from '../../store/runs/run-rows.ts';
import { maskConfiguration } from '../../store/tasks/configuration-secrets.ts';
import { isTelling } from './main-metric.ts';
import { readGoals } from './read-goals.ts';
import { rfc9411Results } from './rfc9411-results.ts';
import { type FoundRun, readRuns } from './run-record.ts';

type Measured = Pick<Metrics, 'summaryOf' | 'value'>;

/** The task as it ran, secrets masked. */
export const configSnapshotOf = ({ definition }: Pick<FoundRun, 'definition'>): Record<string, unknown> => ({
  ...definition,
  ...(definition.configuration && {
    configuration: maskConfiguration(definition.configuration as ConfigurationEntry[]),
  }),
});

/** The results of the run: stored at its end, or current. */
export const readRunSummary = async (
  metrics: Measured,
  { id, status, summary }: Pick<FoundRun, 'id' | 'status' | 'summary'>,
  isFull = true,
): Promise<RunSummary> => {
  const stored = summary['entries'] as RunSummary | undefined;
  const entries = isTerminal(status) && stored !== undefined ? stored : await metrics.summaryOf(id);
  return isFull ? entries : entries.map((entry) => ({ ...entry, metrics: entry.metrics.filter(isTelling) }));
};

const standing = async (
  metrics: Measured,
  runId: number,
  threshold: Threshold,
  breach: { actual: number; at: string } | undefined,
): Promise<ThresholdResult> => {
  if (breach) return { ...threshold, actual: breach.actual, outcome: 'failed', breachedAt: breach.at };
  const { metric, aggregation, scope = {}, window = 'steady' } = threshold;
  const actual = (await metrics.value({ runId, metric, aggregation, scope, window })) ?? null;
  return { ...threshold, actual, outcome: 'pending', breachedAt: null };
};

/** Thresholds with measured values: evaluated at the end of the run, pending until then. */
export const readThresholds = async (
  read: Executor,
  metrics: Measured,
  { id, status, summary, thresholds }: FoundRun,
): Promise<ThresholdResult[]> => {
  const judged = summary['thresholds'] as ThresholdResult[] | undefined;
  if (isTerminal(status) && judged !== undefined) return judged;
  const events = await runEventsOf(read, id, 'thresholdBreached');
  return Promise.all(
    thresholds.map((threshold, index) => {
      const event = events.find(({ data }) => data['index'] === index);
      return standing(metrics, id, threshold, event && { actual: Number(event.data['actual']), at: event.ts });
    }),
  );
};

/** A run with all its results. */
export const readRunResult = async (
  deps: { read: Executor; metrics: Measured },
  run: FoundRun,
  isFull: boolean,
): Promise<RunResult> => {
  const { read, metrics } = deps;
  const [shown] = await readRuns(read, [run]);
  const rfc2544 = await readRfc2544(read, run);
  const goals = await readGoals(read, run);
  const rfc9411 = rfc9411Results(goals, run);
  const tables = await runTableStates(read, run.id);
  return {
    ...(shown as NonNullable<typeof shown>),
    configSnapshot: configSnapshotOf(run),
    summary: await readRunSummary(metrics, run, isFull),
    thresholds: await readThresholds(read, metrics, run),
    ...(rfc2544 !== undefined && { rfc2544 }),
    ...(goals !== undefined && { goals }),
    ...(rfc9411 !== undefined && { rfc9411 }),
    ...(tables.length > 0 && { tables }),
  };
};
