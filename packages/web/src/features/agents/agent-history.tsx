import { Card, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import type { AgentHealthPoint } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { TimeChart } from '../../components/charts/time-chart.tsx';
import { Section } from '../../components/page.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { bytes, scaled } from '../../lib/units.ts';

const { agents: words } = text;
const hourMs = 3_600_000;
const megabyte = 2 ** 20;
const pointsShown = 240;

/** Health of an agent's machine over the last hours. */
export const AgentHistory = ({ id }: { id: number }) => {
  const [hours, setHours] = useState('1');
  const { data } = useQuery({
    queryKey: ['agents', 'history', id, hours],
    queryFn: async () => (await client.agents.metrics({ params: { id }, query: spanOf(Number(hours)) })).data.series,
    refetchInterval: 30_000,
  });
  return (
    <Section
      title={words.history}
      aside={
        <SegmentedControl
          size="xs"
          aria-label={words.span}
          data={Object.entries(words.spans).map(([value, label]) => ({ value, label }))}
          value={hours}
          onChange={setHours}
        />
      }
    >
      {data?.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noHistory}
        </Text>
      ) : (
        <Charts points={data ?? []} />
      )}
    </Section>
  );
};

const spanOf = (hours: number) => {
  const span = { from: new Date(Date.now() - hours * hourMs).toISOString() };
  return { ...span, step: Math.max(10, (hours * 3600) / pointsShown) };
};

const Charts = ({ points }: { points: readonly AgentHealthPoint[] }) => {
  const t = points.map(({ ts }) => Date.parse(ts));
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {chartsOf(points).map((chart) => (
        <Card withBorder key={chart.title} padding="sm" style={{ overflow: 'visible' }}>
          <TimeChart {...chart} t={t} height={140} />
        </Card>
      ))}
    </SimpleGrid>
  );
};

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const bits = (value: number) => scaled(value, 'bit/s');

const chartsOf = (points: readonly AgentHealthPoint[]) => [
  {
    title: words.cpuMean,
    format: (value: number) => `${Math.round(value)} %`,
    lines: [line(words.cpuMean, '#e8590c', points, ({ cpuPct }) => sumOf(cpuPct) / Math.max(1, cpuPct.length))],
  },
  {
    title: words.memory,
    format: (value: number) => bytes(value),
    lines: [line(words.memory, '#7048e8', points, ({ memoryUsedMb }) => memoryUsedMb * megabyte)],
  },
  {
    title: words.traffic,
    format: bits,
    lines: [
      line(words.received, '#1971c2', points, ({ interfaces }) => sumOf(interfaces.map(({ rxBps }) => rxBps))),
      line(words.sent, '#2f9e44', points, ({ interfaces }) => sumOf(interfaces.map(({ txBps }) => txBps))),
    ],
  },
];

const line = (
  label: string,
  color: string,
  points: readonly AgentHealthPoint[],
  measureOf: (point: AgentHealthPoint) => number,
) => ({ label, color, values: points.map(measureOf) });
