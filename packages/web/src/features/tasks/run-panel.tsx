import { Group, Select, Stack } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { isActive } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { latencyMetricsOf } from './latency-metrics.ts';
import { RunAgents } from './run-agents.tsx';
import { ComparePicker, RunComparison, useOtherRun } from './run-compare.tsx';
import { RunDumps } from './run-dumps.tsx';
import { RunGraphs } from './run-graphs.tsx';
import { RunResult } from './run-result.tsx';
import { RunRfc2544 } from './run-rfc2544.tsx';
import { RunSummary } from './run-summary.tsx';
import { SecurityPanel } from './security/security-panel.tsx';
import { isSecurityTest } from './security/security-report.ts';

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
  const { data: result } = useQuery({
    queryKey: ['tasks', 'run', runId],
    queryFn: async () => (await client.tasks.run({ params: { id, runId }, query: { full: true } })).data,
    enabled: !isWatched,
  });
  const other = useOtherRun(latency);
  const controls = (
    <Group gap="xs">
      {choices.length > 1 && (
        <Select
          aria-label={run.latencyMetric}
          data={choices}
          value={latency}
          onChange={(next) => next !== null && choose(next)}
          allowDeselect={false}
          size="xs"
        />
      )}
      {!isWatched && <ComparePicker task={task} runId={runId} />}
    </Group>
  );
  return (
    <Stack>
      <RunGraphs
        id={id}
        runId={runId}
        latency={latency}
        isWatched={isWatched}
        other={other?.series}
        controls={controls}
      >
        {result && <RunResult result={result} />}
      </RunGraphs>
      {result?.rfc2544 && <RunRfc2544 rows={result.rfc2544} />}
      {result && isSecurityTest(task) && <SecurityPanel taskId={id} runId={runId} />}
      {other && <RunComparison runId={runId} otherId={other.runId} />}
      <RunAgents id={id} runId={runId} isActive={isWatched} />
      <RunDumps id={id} runId={runId} isActive={isWatched} />
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
