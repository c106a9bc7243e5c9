import { agentStatus, runStatus, statusNames, verdictNames } from '@rushhour/contract';
import type { Exporter } from '../metrics/export/exporter.ts';
import { type Point, pointsOf } from '../metrics/export/points.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type DurationHistogram, durationBucketsSec } from '../store/engine/timings.ts';
import { activeRuns } from '../store/runs/runs.ts';
import type { Store } from '../store/store.ts';
import { countAgents, countRuns, countVerdicts } from '../store/system/counts.ts';
import type { SettingsStore } from '../store/system/settings.ts';
import { taskNames } from '../store/tasks/task-names.ts';
import { build, commitOf } from '../system/build.ts';

export interface ControllerMetricsDeps {
  readonly store: Store;
  readonly settings: SettingsStore;
  readonly metrics: Metrics;
  readonly exporter: Exporter;
}

type Labels = Readonly<Record<string, string>>;

/** Runs whose values are shown at once; more would make the answer too long for a scrape. */
const maxRuns = 50;

const escaped = (text: string) => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');

const seriesOf = (name: string, labels: Labels, value: number): string => {
  const pairs = Object.entries(labels).map(([key, label]) => `${key}="${escaped(label)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
};

const headOf = (name: string, type: string, help: string) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];

const family = (name: string, type: string, help: string, series: readonly [Labels, number][]): string[] => [
  ...headOf(name, type, help),
  ...series.map(([labels, value]) => seriesOf(name, labels, value)),
];

/** The buckets, sum and count of a histogram, with these labels. */
export const histogramLines = (name: string, labels: Labels, { counts, sumSec }: DurationHistogram): string[] => {
  let below = 0;
  const buckets = [...counts].map((count, bucket) => {
    below += count;
    return seriesOf(`${name}_bucket`, { ...labels, le: String(durationBucketsSec[bucket] ?? '+Inf') }, below);
  });
  return [...buckets, seriesOf(`${name}_sum`, labels, sumSec), seriesOf(`${name}_count`, labels, below)];
};

const agentStates = Object.entries(agentStatus);

const inventoryLines = async ({ read }: Store): Promise<string[]> => {
  const [agents, runs, verdicts] = [await countAgents(read), await countRuns(read), await countVerdicts(read)];
  const named = { version: build.version, commit: commitOf(), node: process.version };
  const agentSeries = agentStates.map(([state, status]): [Labels, number] => [{ state }, agents.get(status) ?? 0]);
  const runSeries = statusNames
    .map((state): [Labels, number] => [{ state }, runs.get(runStatus[state]) ?? 0])
    .filter(([{ state }]) => state !== 'created');
  const verdictSeries = verdictNames.map((verdict, value): [Labels, number] => [{ verdict }, verdicts.get(value) ?? 0]);
  return [
    ...family('rushhour_build_info', 'gauge', 'Version of the controller', [[named, 1]]),
    ...family('rushhour_agents', 'gauge', 'Agents by state', agentSeries),
    ...family('rushhour_runs', 'gauge', 'Runs by state', runSeries),
    ...family('rushhour_runs_ended', 'gauge', 'Runs that have ended, by verdict', verdictSeries),
    ...family('rushhour_queue_length', 'gauge', 'Runs that wait for agents or a free place', [
      [{}, runs.get(runStatus.queued) ?? 0],
    ]),
  ];
};

const workLines = ({ store, metrics, exporter }: ControllerMetricsDeps): string[] => {
  const { waiting, lagSec } = metrics.ingestState();
  const storeName = 'rushhour_store_duration_seconds';
  const counted = exporter.counts();
  return [
    ...family('rushhour_ingest_waiting_reports', 'gauge', 'Reports of agents that are not on disk yet', [
      [{}, waiting],
    ]),
    ...family('rushhour_ingest_lag_seconds', 'gauge', 'From the arrival of a report until it is on disk', [
      [{}, lagSec],
    ]),
    ...headOf(storeName, 'histogram', 'Statements that read, and transactions from their request to the commit'),
    ...histogramLines(storeName, { kind: 'read' }, store.timings.read),
    ...histogramLines(storeName, { kind: 'write' }, store.timings.write),
    ...family(
      'rushhour_metrics_output_points_total',
      'counter',
      'Points of runs handed to outputs, by result',
      counted.flatMap(({ name: output, counts: { sent, dropped } }): [Labels, number][] => [
        [{ output, result: 'sent' }, sent],
        [{ output, result: 'dropped' }, dropped],
      ]),
    ),
    ...family(
      'rushhour_metrics_output_failures_total',
      'counter',
      'Attempts that an output did not take',
      counted.map(({ name: output, counts: { failures } }): [Labels, number] => [{ output }, failures]),
    ),
  ];
};

/** The newest second of each running task, in the form of the outputs. */
const runLines = async ({ store, settings, metrics }: ControllerMetricsDeps): Promise<string[]> => {
  if (!settings.current().metrics.runsAtMetrics) return [];
  const running = (await activeRuns(store.read)).filter(({ status }) => status >= runStatus.running).slice(0, maxRuns);
  const names = await taskNames(
    store.read,
    running.map(({ taskID }) => taskID),
  );
  const points: Point[] = [];
  for (const { id, taskID } of running) {
    const latest = await metrics.latest(id, { by: 'job' });
    const labels = { task: names.get(taskID) ?? '', taskID: String(taskID), run: String(id) };
    if (latest !== undefined) points.push(...pointsOf(latest, labels));
  }
  return [...Map.groupBy(points, ({ name }) => name)].flatMap(([name, group]) =>
    family(
      name,
      'gauge',
      `Of the newest second of running tasks, in ${group[0]?.unit || 'units'}`,
      group.map(({ labels, value }): [Labels, number] => [labels, value]),
    ),
  );
};

const keptMs = 1000;

/** What operators watch, in the text format of Prometheus. Anyone may ask, so the database is asked once a second. */
export const createControllerMetrics = (deps: ControllerMetricsDeps) => {
  let kept: Promise<string> | undefined;
  const read = async () =>
    [...(await inventoryLines(deps.store)), ...workLines(deps), ...(await runLines(deps))].join('\n');
  return () => {
    if (kept === undefined) {
      kept = read();
      const forget = () => {
        kept = undefined;
      };
      kept.catch(forget);
      setTimeout(forget, keptMs).unref();
    }
    return kept;
  };
};
