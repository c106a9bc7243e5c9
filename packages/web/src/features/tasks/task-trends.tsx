import { Card, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { isTerminal, type Run, type RunResult } from '@rushhour/contract';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Section } from '../../components/page.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import classes from './task-trends.module.css';
import { type Trend, trendsOf } from './trends.ts';

const { trends: words } = text;
const maxRuns = 12;
const minRuns = 2;

/** The results of the last runs side by side, of all devices or of one. */
export const TaskTrends = ({ id, runs }: { id: number; runs: readonly Run[] }) => {
  const [device, setDevice] = useState<string | null>(null);
  const ended = runs.filter(({ status }) => isTerminal(status));
  const devices = [...new Set(ended.flatMap(({ labels }) => labels['device'] ?? []))];
  const shown = ended.filter(({ labels }) => device === null || labels['device'] === device).slice(0, maxRuns);
  const results = useQueries({
    queries: shown.map(({ id: runId }) => ({
      queryKey: ['tasks', 'run', runId],
      queryFn: async () => (await client.tasks.run({ params: { id, runId }, query: { full: true } })).data,
      staleTime: 300_000,
    })),
    combine: (all) => all.flatMap(({ data }) => data ?? []),
  });
  const trends = trendsOf([...results].reverse() as RunResult[]);
  if (ended.length < minRuns || trends.length === 0) return null;
  const filter = devices.length > 1 && (
    <Select
      aria-label={words.device}
      placeholder={words.all}
      data={devices}
      value={device}
      onChange={setDevice}
      clearable
      size="xs"
    />
  );
  return (
    <Section title={words.title} order={3} aside={filter}>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
        {trends.map((trend) => (
          <TrendCard key={trend.label} trend={trend} taskId={id} />
        ))}
      </SimpleGrid>
    </Section>
  );
};

const verdictColors = ['gray', 'teal', 'red', 'yellow'];

/** One bar per run, colored by its verdict; each leads to its run. */
export const TrendCard = ({ trend: { label, points, format }, taskId }: { trend: Trend; taskId: number }) => {
  const max = Math.max(...points.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <Card withBorder padding="xs">
      <Stack gap={4}>
        <Text size="xs" c="dimmed">
          {label}
        </Text>
        <Text size="sm" fw={600} className="numbers">
          {format(points.at(-1)?.value ?? 0)}
        </Text>
        <div className={classes['bars']}>
          {points.map(({ runId, number, value, verdict, device }) => (
            <Link
              key={runId}
              to="/tasks/$id/runs/$runId"
              params={{ id: String(taskId), runId: String(runId) }}
              className={classes['bar'] ?? ''}
              aria-label={words.point(number, format(value), device)}
              title={words.point(number, format(value), device)}
              style={{
                height: `${Math.max(4, (value / max) * 100)}%`,
                background: `var(--mantine-color-${verdictColors[verdict] ?? 'gray'}-filled)`,
              }}
            />
          ))}
        </div>
      </Stack>
    </Card>
  );
};
