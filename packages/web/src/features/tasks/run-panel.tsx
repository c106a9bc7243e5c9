import { Group, Select, Stack, Text } from '@mantine/core';
import type { MetricSnapshot, Task } from '@rushhour/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { client } from '../../lib/client.ts';
import { isActive } from '../../lib/task-status.ts';
import { type TaskEvent, useTaskStream } from '../../lib/task-stream.ts';
import { text } from '../../lib/text.ts';
import { latencyMetricsOf } from './latency-metrics.ts';
import { RunAgents } from './run-agents.tsx';
import { RunCharts } from './run-charts.tsx';
import { ComparePicker, RunComparison, useOtherRun } from './run-compare.tsx';
import { marksOf, useRunEvents } from './run-events.tsx';
import { RunResult } from './run-result.tsx';
import { useRunSeries } from './run-series.ts';
import { RunSummary } from './run-summary.tsx';

const { run } = text;

interface RunPanelProps {
  task: Task;
  runId: number;
  /** Of the task. */
  status: number;
  /** Whether this is the run that the status speaks of. */
  isCurrent: boolean;
}

/** A run as it happens or as it was. */
export const RunPanel = ({ task, runId, status, isCurrent }: RunPanelProps) => {
  const { id } = task;
  const isWatched = isCurrent && isActive(status);
  const [latency, choices, choose] = useLatency(task);
  const { series, add, reload } = useRunSeries(id, runId, latency);
  const { data: events } = useRunEvents(id, runId);
  const marks = useMemo(() => marksOf(events ?? []), [events]);
  const { data: result } = useQuery({
    queryKey: ['tasks', 'run', runId],
    queryFn: async () => (await client.tasks.run({ params: { id, runId }, query: { full: true } })).data,
    enabled: !isWatched,
  });
  const other = useOtherRun(latency);
  const isLive = useTaskStream(id, isWatched, useTake({ add, reload }));
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="xs" c="dimmed" role="status">
          {isWatched && (isLive ? run.live : run.reconnecting)}
        </Text>
        <Group gap="xs">
          {choices.length > 1 && (
            <Select
              aria-label={run.latencyOf}
              data={choices}
              value={latency}
              onChange={(next) => next !== null && choose(next)}
              allowDeselect={false}
              size="xs"
            />
          )}
          {!isWatched && <ComparePicker task={task} runId={runId} />}
        </Group>
      </Group>
      {result && <RunResult result={result} />}
      <RunCharts series={series} other={other?.series} latency={latency} marks={marks} />
      {other && <RunComparison runId={runId} otherId={other.runId} />}
      <RunAgents id={id} runId={runId} isActive={isWatched} />
      {result && <RunSummary summary={result.summary} />}
    </Stack>
  );
};

/** The duration metric on show; the choice is in the address. */
const useLatency = (task: Task): [string, string[], (metric: string) => void] => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const choices = useMemo(() => latencyMetricsOf(task), [task]);
  const asked = String(search['latency'] ?? '');
  const chosen = choices.includes(asked) ? asked : (choices[0] ?? 'http.latency');
  const choose = (latency: string) =>
    void navigate({ to: '.', search: { ...search, latency } as never, replace: true });
  return [chosen, choices, choose];
};

/** What each event of the stream changes on the page. */
const useTake = ({ add, reload }: { add: (snapshot: MetricSnapshot) => void; reload: () => Promise<void> }) => {
  const queries = useQueryClient();
  return ({ event, data }: TaskEvent) => {
    if (event === 'metrics') return add(data as MetricSnapshot);
    if (event === 'log') return;
    if (event === 'resync') void reload().catch(() => {});
    const what = event === 'event' || event === 'threshold' ? 'events' : 'status';
    void queries.invalidateQueries({ queryKey: ['tasks', what] });
    if (event === 'end' || event === 'resync') void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
};
