import { Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { choicesText } from '../../../texts/choices.ts';
import { outcomeText } from './attempt-filter.ts';
import type { Difference, SecurityReport } from './security-report.ts';

const { security } = text;
const maxShown = 100;

interface BaselineComparisonProps {
  taskId: number;
  report: SecurityReport;
}

/** Attempts with another outcome than in the baseline. */
export const BaselineComparison = ({ taskId, report: { comparison, baselineRunID } }: BaselineComparisonProps) => {
  if (comparison === null || baselineRunID === null) return null;
  const { newlyPassed, newFalsePositives, newlyBlocked, changedMechanism, incomparable } = comparison;
  const isSame = [newlyPassed, newFalsePositives, newlyBlocked, changedMechanism].every((one) => one.length === 0);
  return (
    <Section
      order={3}
      title={
        <>
          {security.comparedWith}{' '}
          <Link to="/tasks/$id/runs/$runId" params={{ id: String(taskId), runId: String(baselineRunID) }}>
            {security.baseline}
          </Link>
        </>
      }
    >
      <Stack gap="xs">
        {isSame && <Text size="sm">{security.noDifference}</Text>}
        <Differences title={security.newlyPassed} differences={newlyPassed} />
        <Differences title={security.newFalsePositives} differences={newFalsePositives} />
        <Differences title={security.newlyBlocked} differences={newlyBlocked} />
        <Differences title={security.changed} differences={changedMechanism} />
        {incomparable > 0 && (
          <Text size="sm" c="dimmed">
            {security.incomparable(incomparable)}
          </Text>
        )}
      </Stack>
    </Section>
  );
};

const columns: readonly DataColumn<Difference>[] = [
  { cell: ({ refName }) => refName },
  { cell: ({ variant }) => choicesText(variant, 'encoders') },
  { cell: ({ kind, before, after }) => `${outcomeText(kind, before)} → ${outcomeText(kind, after)}` },
];

const Differences = ({ title, differences }: { title: string; differences: readonly Difference[] }) =>
  differences.length > 0 && (
    <section aria-label={title}>
      <Text size="sm" fw={600}>
        {title} ({differences.length})
      </Text>
      <DataTable
        columns={columns}
        rows={differences.slice(0, maxShown)}
        keyOf={({ kind, refName, variant }) => `${kind} ${refName} ${variant}`}
        minWidth={420}
      />
    </section>
  );
