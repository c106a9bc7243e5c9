import { Group, Stack, Text } from '@mantine/core';
import type { MetricSnapshot } from '@rushhour/contract';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { type TaskEvent, useTaskStream } from '../../lib/task-stream.ts';
import { text } from '../../lib/text.ts';
import { RunCharts } from './run-charts.tsx';
import { marksOf, useRunEvents } from './run-events.tsx';
import { type RunSeries, useRunSeries } from './run-series.ts';

const { run } = text;

interface RunGraphsProps {
  id: number;
  runId: number;
  latency: string;
  /** Whether the run is under way and followed. */
  isWatched: boolean;
  other: RunSeries | undefined;
  /** Beside the word whether the page is live. */
  controls: ReactNode;
  /** Between the controls and the charts. */
  children: ReactNode;
}

/** What changes every second, and nothing else: the rest of the page is not drawn again with it. */
export const RunGraphs = ({ id, runId, latency, isWatched, other, controls, children }: RunGraphsProps) => {
  const { series, add, reload } = useRunSeries(id, runId, latency);
  const { data: events } = useRunEvents(id, runId);
  const marks = useMemo(() => marksOf(events ?? []), [events]);
  const isLive = useTaskStream(id, isWatched, useTake({ add, reload }));
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="xs" c="dimmed" role="status">
          {isWatched && (isLive ? run.live : run.reconnecting)}
        </Text>
        {controls}
      </Group>
      {children}
      <RunCharts series={series} other={other} latency={latency} marks={marks} />
    </Stack>
  );
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
