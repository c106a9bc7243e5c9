import { DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import type { CountsRow } from './security-report.ts';

const { security } = text;
const counted = ['attempts', 'blocked', 'modified', 'passed', 'inconclusive'] as const;

const blockRateOf = ({ blocked, modified, passed }: CountsRow) => {
  const decided = blocked + modified + passed;
  return decided === 0 ? '–' : `${(((blocked + modified) / decided) * 100).toFixed(0)} %`;
};

interface CountsTableProps {
  title: string;
  /** Header of the first column. */
  of: string;
  rows: readonly CountsRow[];
}

/** Attempts by outcome, one row per category, technique or variant. */
export const CountsTable = ({ title, of, rows }: CountsTableProps) => {
  const hasSeverity = rows.some(({ severity }) => severity !== undefined);
  if (rows.length === 0) return null;
  return (
    <Section title={title} order={3}>
      <DataTable
        rows={rows}
        keyOf={({ name, severity }) => `${name} ${severity ?? ''}`}
        minWidth={460}
        columns={[
          { header: of, cell: ({ name }) => name },
          hasSeverity && { header: text.columns.severity, cell: ({ severity }: CountsRow) => severity },
          ...counted.map((name) => ({
            header: security.outcomes[name],
            align: 'right' as const,
            cell: (row: CountsRow) => row[name],
          })),
          { header: security.blocked, align: 'right', cell: blockRateOf },
        ]}
      />
    </Section>
  );
};
