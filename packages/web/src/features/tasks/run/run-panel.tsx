import { Group, Select, Skeleton, Stack, Text } from '@mantine/core';
import { RequestFailed } from '@rushhour/client';
import {
  entriesOf,
  findPlugin,
  isActive,
  type MetricSnapshot,
  type RunResult as Result,
  type Task,
} from '@rushhour/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo } from 'react';
import { Problem } from '../../../components/problem.tsx';
import { client } from '../../../lib/client.ts';
import { type TaskEvent, useTaskStream } from '../../../lib/task-stream.ts';
import { text } from '../../../lib/text.ts';
import { usePageSearch } from '../../../lib/use-page-search.ts';
import { RunCharts } from '../charts/run-charts.tsx';
import { ComparePicker, RunComparison, useOtherRun } from '../charts/run-compare.tsx';
import { GoalCharts, GoalTables, Rfc9411Table } from '../charts/run-goals.tsx';
import { RunHeatMap } from '../charts/run-heat-map.tsx';
import { type RunSeries, useRunSeries } from '../charts/run-series.ts';
import { spansOf } from '../charts/run-spans.ts';
import { RunRfc2544, RunSummary } from '../charts/run-tables.tsx';
import { SessionDelays } from '../charts/session-delays.tsx';
import { SessionStepBar } from '../charts/session-step-bar.tsx';
import { sessionStepsOf } from '../charts/session-steps.ts';
import { Bypasses } from '../security/bypasses.tsx';
import { SecurityPanel } from '../security/security-panel.tsx';
import { isSecurityTest } from '../security/security-report.ts';
import { KpiTiles } from './kpi-tiles.tsx';
import { type Kpi, planeKpis, rfc2544Kpis, securityKpis, trafficKpis } from './run-kpis.ts';
import { RunResult } from './run-result.tsx';
import { RunAgents } from './tables/run-agents.tsx';
import { RunCaptures } from './tables/run-captures.tsx';
import { marksOf, useRunEvents } from './tables/run-events.tsx';
import { RunExchanges } from './tables/run-exchanges.tsx';
import { RunHosts } from './tables/run-hosts.tsx';
import { RunJourneys } from './tables/run-journeys.tsx';
import { RunRows } from './tables/run-rows.tsx';
import { Thresholds } from './tables/run-thresholds.tsx';
import { RunTopology } from './topology/run-topology.tsx';

const { run } = text;

interface RunPanelProps {
  task: Task;
  runId: number;
  /** Status of the task. */
  status: number;
  /** Whether the status is that of this run. */
  isCurrent: boolean;
}

const pollMs = 2000;

/** The result of a run; counters of security and plane tests, and trials, are read again while the run is active. */
const useResult = ({ task, runId }: RunPanelProps, isLive: boolean) =>
  useQuery({
    // What an active run has so far is not its result.
    queryKey: ['tasks', isLive ? 'run now' : 'run', runId],
    queryFn: async () => (await client.tasks.run({ params: { id: task.id, runId }, query: { full: true } })).data,
    refetchInterval: isLive && hasCounters(task) ? pollMs : false,
    retry: (failures, error) => !(error instanceof RequestFailed) && failures < 3,
  });

const settleMs = 2000;

/** The last numbers of agents arrive shortly after the end of a run: everything is read once more. */
const useEndOfRun = (isLive: boolean) => {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLive) return;
    const readAgain = () => void queries.invalidateQueries({ queryKey: ['tasks'] });
    return () => void setTimeout(readAgain, settleMs);
  }, [isLive, queries]);
};

const searches = ({ configuration }: Task) =>
  configuration.some(({ values }) => (values as { duration?: { goal?: unknown } } | undefined)?.duration?.goal);

const hasCounters = (task: Task) =>
  isSecurityTest(task) || task.accessPlane.length + task.controlPlane.length > 0 || searches(task);

/** An active run with live charts, or a finished one with its result. */
export const RunPanel = (props: RunPanelProps) => {
  const { task, runId, status, isCurrent } = props;
  const { id } = task;
  const isLive = isCurrent && isActive(status);
  const [latency, choices, select] = useLatency(task);
  const { data, error } = useResult(props, isLive);
  const result = isLive ? undefined : data;
  useEndOfRun(isLive);
  const other = useOtherRun(latency);
  if (error instanceof RequestFailed && error.status === 404) return <Text c="dimmed">{run.deleted}</Text>;
  const controls = (
    <Group gap="xs">
      {choices.length > 1 && (
        <Select
          aria-label={run.latencyMetric}
          data={choices}
          value={latency}
          onChange={(next) => next !== null && select(next)}
          allowDeselect={false}
          size="xs"
        />
      )}
      {!isLive && <ComparePicker task={task} runId={runId} />}
    </Group>
  );
  return (
    <Stack>
      <Charts {...{ task, runId, latency, isLive, controls, result }} newest={data} other={other?.series}>
        {result && <RunResult result={result} />}
        {data === undefined && (error ? <Problem error={error} /> : <Skeleton height={120} />)}
        {data?.goals && <GoalCharts goals={data.goals} />}
      </Charts>
      {result && result.thresholds.length > 0 && <Thresholds result={result} />}
      {result?.rfc2544 && <RunRfc2544 rows={result.rfc2544} />}
      {result && <RunJourneys summary={result.summary} />}
      <RunExchanges id={task.id} runId={runId} isActive={isLive} />
      {data?.rfc9411 && data.rfc9411.length > 1 && <Rfc9411Table tests={data.rfc9411} />}
      {data?.goals && <GoalTables goals={data.goals} />}
      {result && isSecurityTest(task) && <SecurityPanel taskId={id} runId={runId} />}
      {other && <RunComparison runId={runId} otherId={other.runId} />}
      {data && <SessionDelays summary={data.summary} />}
      <RunRows task={task} runId={runId} isActive={isLive} />
      <RunAgents id={id} runId={runId} isActive={isLive} />
      <RunHosts id={id} runId={runId} isActive={isLive} />
      <RunCaptures id={id} runId={runId} isActive={isLive} />
      {result && <RunSummary summary={result.summary} />}
    </Stack>
  );
};

/** The latency metric on the chart; the selection is in the URL. */
const useLatency = (task: Task): [string, string[], (metric: string) => void] => {
  const { text: read, set } = usePageSearch();
  const choices = useMemo(() => latencyMetricsOf(task), [task]);
  const given = read('latency') ?? '';
  const selected = choices.includes(given) ? given : (choices[0] ?? 'http.latency');
  return [selected, choices, (latency) => set({ latency })];
};

/** The histograms that the traffic of a task reports, the main latency of each plugin first. */
const latencyMetricsOf = ({ configuration }: Task): string[] => {
  const ids = [...new Set(entriesOf(configuration).map(({ pluginId }) => pluginId))];
  const rank = (name: string) => (name.endsWith('.latency') ? 0 : 1);
  const names = ids.flatMap((id) =>
    (findPlugin(id)?.metrics ?? [])
      .filter(({ type, name }) => type === 'histogram' && !name.startsWith('agent.'))
      .map(({ name }) => name)
      .sort((a, b) => rank(a) - rank(b)),
  );
  return [...new Set(names)];
};

interface ChartsProps {
  task: Task;
  runId: number;
  latency: string;
  isLive: boolean;
  /** Of a finished run. */
  result: Result | undefined;
  /** Also of an active run. */
  newest: Result | undefined;
  other: RunSeries | undefined;
  controls: ReactNode;
  /** The verdict, above everything. */
  children: ReactNode;
}

/** The part that updates every second; the rest of the page does not render again with it. */
const Charts = (props: ChartsProps) => {
  const { task, runId, latency, isLive, result, newest, other, controls, children } = props;
  const { series, add, reload } = useRunSeries(task.id, runId, latency);
  const { events } = useRunEvents(task.id, runId);
  const marks = useMemo(() => marksOf(events), [events]);
  const [from, to] = [series.t[0] ?? 0, series.t.at(-1) ?? 0];
  const spans = useMemo(
    () => spansOf({ configuration: task.configuration, events, from, to }),
    [task, events, from, to],
  );
  const isConnected = useTaskStream(task.id, isLive, useStreamHandler({ add, reload }));
  return (
    <Stack>
      {children}
      <KpiTiles label={run.kpisOf} kpis={kpisOf(props, series)} />
      {isLive && newest && <SessionStepBar summary={newest.summary} />}
      {result && isSecurityTest(task) && <Bypasses taskId={task.id} runId={runId} />}
      <RunTopology task={task} runId={runId} labels={newest?.labels ?? {}} isActive={isLive} />
      <Group justify="space-between">
        <Text size="xs" c="dimmed" role="status">
          {isLive && (isConnected ? run.live : run.reconnecting)}
        </Text>
        {controls}
      </Group>
      <RunCharts {...{ series, other, latency, marks, spans, isLive }}>
        {other === undefined && <RunHeatMap taskId={task.id} {...{ runId, latency, isLive }} />}
      </RunCharts>
    </Stack>
  );
};

const kpisOf = ({ task, latency, result, newest }: ChartsProps, series: RunSeries): Kpi[] => {
  if (isSecurityTest(task)) return newest ? securityKpis(newest.summary) : [];
  if (result?.rfc2544) return rfc2544Kpis(result.rfc2544);
  const steps = sessionStepsOf(newest?.summary ?? []);
  return [...planeKpis(newest?.tables, steps), ...trafficKpis({ series, latency, result })];
};

/** Updates the series and the queries that an event of the stream concerns. */
const useStreamHandler = ({ add, reload }: Pick<ReturnType<typeof useRunSeries>, 'add' | 'reload'>) => {
  const queries = useQueryClient();
  return ({ event, data }: TaskEvent) => {
    if (event === 'metrics') return add(data as MetricSnapshot);
    if (event === 'log') return;
    if (event === 'resync') void reload().catch(() => {});
    const key = event === 'event' || event === 'threshold' ? 'events' : 'status';
    void queries.invalidateQueries({ queryKey: ['tasks', key] });
    if (event === 'end' || event === 'resync') void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
};
