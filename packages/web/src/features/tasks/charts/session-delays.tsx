import type { MetricValue, RunSummary } from '@rushhour/contract';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { duration, howMany } from '../../../lib/units.ts';
import { type SessionDelay, sessionDelaysOf } from './session-steps.ts';

const { rows: words } = text;

const [header = '', countHeader = '', ...timeHeaders] = words.delayColumns;
const times: readonly (keyof MetricValue)[] = ['min', 'avg', 'p50', 'p95', 'p99', 'max'];

const columns: readonly DataColumn<SessionDelay>[] = [
  { header, cell: ({ label }) => label },
  { header: countHeader, align: 'right', cell: ({ metric }) => howMany(metric.count ?? 0) },
  ...timeHeaders.map(
    (name, i): DataColumn<SessionDelay> => ({
      header: name,
      align: 'right',
      cell: ({ metric }) => duration(metric[times[i] as keyof MetricValue] as number | null | undefined),
    }),
  ),
];

/** How long sessions of a run took for each step, and joins and leaves of groups, clocks and switches for theirs. */
export const SessionDelays = ({ summary }: { summary: RunSummary }) => {
  const delays = sessionDelaysOf(summary);
  if (delays.length === 0) return null;
  return (
    <Section title={words.delaysTitle} order={3}>
      <DataTable columns={columns} rows={delays} keyOf={({ key }) => key} minWidth={700} />
    </Section>
  );
};
