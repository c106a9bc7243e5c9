import type { RunSummary } from '@rushhour/contract';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { Section } from '../../../../components/page.tsx';
import { text } from '../../../../lib/text.ts';
import { duration, howMany } from '../../../../lib/units.ts';
import { type JourneyRow, journeyRows } from './journey-rows.ts';

const { journeys: words } = text.run;

const cellsOf = ({ step, count, errors, failed, time }: JourneyRow): string[] => [
  howMany(count),
  step === '' ? '' : howMany(errors),
  howMany(failed),
  duration(time?.p50),
  duration(time?.p95),
  duration(time?.p99),
  duration(time?.max),
];

const columns: readonly DataColumn<JourneyRow>[] = [
  { header: words.journey, cell: ({ journey, step }) => (step === '' ? <strong>{journey}</strong> : '') },
  { header: words.step, cell: ({ step }) => step },
  ...words.columns.map(
    (header, i): DataColumn<JourneyRow> => ({ header, align: 'right', cell: (row) => cellsOf(row)[i] }),
  ),
];

/** Journeys and their steps: how often, errors, failed checks and times. */
export const RunJourneys = ({ summary }: { summary: RunSummary }) => {
  const rows = journeyRows(summary);
  if (rows.length === 0) return null;
  return (
    <Section title={words.title}>
      <DataTable columns={columns} rows={rows} keyOf={({ key }) => key} minWidth={760} />
    </Section>
  );
};
