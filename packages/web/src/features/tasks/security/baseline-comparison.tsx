import { Card, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { text } from '../../../lib/text.ts';
import type { Difference, SecurityReport } from './security-report.ts';

const { security } = text;
const mostShown = 100;

interface BaselineComparisonProps {
  taskId: number;
  report: SecurityReport;
}

/** What the device does otherwise than in the run before. */
export const BaselineComparison = ({ taskId, report: { comparison, baselineRunID } }: BaselineComparisonProps) => {
  if (comparison === null || baselineRunID === null) return null;
  const { newlyPassed, newlyBlocked, changedMechanism, incomparable } = comparison;
  const isSame = newlyPassed.length + newlyBlocked.length + changedMechanism.length === 0;
  return (
    <Card withBorder padding="sm">
      <Title order={3} size="h5" mb="xs">
        {security.comparedWith}{' '}
        <Link to="/tasks/$id/runs/$runId" params={{ id: String(taskId), runId: String(baselineRunID) }}>
          {security.baseline}
        </Link>
      </Title>
      <Stack gap="xs">
        {isSame && <Text size="sm">{security.noDifference}</Text>}
        <Differences title={security.newlyPassed} differences={newlyPassed} />
        <Differences title={security.newlyBlocked} differences={newlyBlocked} />
        <Differences title={security.changed} differences={changedMechanism} />
        {incomparable > 0 && (
          <Text size="sm" c="dimmed">
            {security.incomparable(incomparable)}
          </Text>
        )}
      </Stack>
    </Card>
  );
};

const Differences = ({ title, differences }: { title: string; differences: readonly Difference[] }) =>
  differences.length > 0 && (
    <section aria-label={title}>
      <Text size="sm" fw={600}>
        {title} ({differences.length})
      </Text>
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing={4}>
          <Table.Tbody>
            {differences.slice(0, mostShown).map(({ kind, refName, variant, before, after }) => (
              <Table.Tr key={`${kind} ${refName} ${variant}`}>
                <Table.Td>{refName}</Table.Td>
                <Table.Td>{variant}</Table.Td>
                <Table.Td>
                  {before} → {after}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
