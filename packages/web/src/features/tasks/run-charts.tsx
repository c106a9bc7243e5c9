import { Card, SimpleGrid } from '@mantine/core';
import type { RunEvent } from '@rushhour/contract';
import { useMemo } from 'react';
import { type Mark, TimeChart } from '../../components/charts/time-chart.tsx';
import { text } from '../../lib/text.ts';
import { duration, scaled } from '../../lib/units.ts';
import { latencyKeys, type RunSeries } from './run-series.ts';

const { run } = text;
const colors = {
  green: '#2f9e44',
  orange: '#e8590c',
  red: '#e03131',
  blue: '#1971c2',
  grey: '#868e96',
  violet: '#7048e8',
};
const severityColors: Record<string, string> = { info: colors.grey, warning: colors.orange, error: colors.red };
const none: readonly (number | null)[] = [];

interface RunChartsProps {
  readonly series: RunSeries;
  readonly plugin: string;
  readonly events: readonly RunEvent[];
}

/** Load, latency, throughput and errors over the same time, with what happened marked on each. */
export const RunCharts = ({ series: { t, values }, plugin, events }: RunChartsProps) => {
  const marks = useMemo(() => events.filter(({ type }) => type !== 'status').map(markOf), [events]);
  const of = (key: string) => values[key] ?? none;
  const [p50 = '', p95 = '', p99 = '', max = ''] = latencyKeys(plugin);
  const perSecond = (value: number) => scaled(value, '/s');
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Card withBorder>
        <TimeChart
          title={run.load}
          t={t}
          marks={marks}
          format={perSecond}
          lines={[
            { label: run.achieved, color: colors.orange, values: of('achievedLoad') },
            { label: run.wanted, color: colors.grey, values: of('targetLoad'), isDashed: true },
          ]}
        />
      </Card>
      <Card withBorder>
        <TimeChart
          title={run.latency}
          t={t}
          marks={marks}
          format={duration}
          lines={[
            { label: 'p50', color: colors.green, values: of(p50) },
            { label: 'p95', color: colors.blue, values: of(p95), isBand: true },
            { label: 'p99', color: colors.violet, values: of(p99), isBand: true },
            { label: 'max', color: colors.red, values: of(max), isBand: true },
          ]}
        />
      </Card>
      <Card withBorder>
        <TimeChart
          title={run.throughput}
          t={t}
          marks={marks}
          format={(value) => scaled(value, 'bit/s')}
          lines={[
            { label: run.sent, color: colors.orange, values: of('txBps') },
            { label: run.received, color: colors.blue, values: of('rxBps') },
          ]}
        />
      </Card>
      <Card withBorder>
        <TimeChart
          title={run.errors}
          t={t}
          marks={marks}
          format={perSecond}
          lines={[{ label: run.errors, color: colors.red, values: of('errors') }]}
        />
      </Card>
    </SimpleGrid>
  );
};

const markOf = ({ ts, type, severity }: RunEvent): Mark => ({
  at: Date.parse(ts),
  label: type,
  color: severityColors[severity] ?? colors.grey,
});
