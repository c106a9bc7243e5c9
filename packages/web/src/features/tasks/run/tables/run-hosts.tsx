import type { MetricValue, RunSummary } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { Section } from '../../../../components/page.tsx';
import { client } from '../../../../lib/client.ts';
import { text } from '../../../../lib/text.ts';

const { run } = text;
const { hostColumns: headers } = run;
const pollMs = 3000;

type Row = RunSummary[number];

const metricOf = ({ metrics }: Row, name: string): MetricValue | undefined =>
  metrics.find(({ metric }) => metric === name);

/** Total of a counter, largest value of a gauge. */
const shown = (row: Row, name: string): string => {
  const found = metricOf(row, name);
  const value = found?.type === 'counter' ? found.sum : found?.max;
  return value === undefined || value === null ? '–' : Math.round(value).toLocaleString('en');
};

const number = (header: string, cell: (row: Row) => string): DataColumn<Row> => ({ header, align: 'right', cell });

const columns: readonly DataColumn<Row>[] = [
  { header: headers.entry, cell: ({ configurationIndex, plugin }) => `${configurationIndex + 1} · ${plugin}` },
  { header: run.agentColumns.role, cell: ({ role }) => role },
  number(headers.hosts, (row) => shown(row, 'stack.hosts')),
  number(headers.neighbourFailures, (row) => shown(row, 'stack.neighbourFailures')),
  number(headers.dropped, (row) => shown(row, 'stack.dropped')),
  number(headers.tunnels, (row) =>
    metricOf(row, 'tunnel.count') === undefined ? '–' : `${shown(row, 'tunnel.up')} / ${shown(row, 'tunnel.count')}`,
  ),
];

/** Emulated hosts and tunnels of a run; nothing where it has none. */
export const RunHosts = ({ id, runId, isActive }: { id: number; runId: number; isActive: boolean }) => {
  const { data: summary = [] } = useQuery({
    queryKey: ['tasks', 'run hosts', runId, isActive],
    queryFn: async () => (await client.tasks.run({ params: { id, runId }, query: { full: true } })).data.summary,
    refetchInterval: isActive ? pollMs : false,
  });
  const rows = summary.filter((row) => metricOf(row, 'stack.hosts') !== undefined);
  if (rows.length === 0) return null;
  return (
    <Section title={run.hosts} order={3}>
      <DataTable
        columns={columns}
        rows={rows}
        keyOf={({ configurationIndex, role }) => `${configurationIndex} ${role}`}
        minWidth={640}
      />
    </Section>
  );
};
