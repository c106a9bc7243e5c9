import { Card, Table, Title } from '@mantine/core';
import { text } from '../../../lib/text.ts';
import type { CountsRow } from './security-report.ts';

const { security } = text;
const counted = ['attempts', 'blocked', 'modified', 'passed', 'inconclusive'] as const;

const rateOf = ({ blocked, modified, passed }: CountsRow) => {
  const decided = blocked + modified + passed;
  return decided === 0 ? '–' : `${(((blocked + modified) / decided) * 100).toFixed(0)} %`;
};

interface CountsTableProps {
  title: string;
  of: string;
  rows: readonly CountsRow[];
}

/** What became of attempts, one line a kind. */
export const CountsTable = ({ title, of, rows }: CountsTableProps) => {
  const hasSeverity = rows.some(({ severity }) => severity !== undefined);
  if (rows.length === 0) return null;
  return (
    <Card withBorder padding="sm">
      <Title order={3} size="h5" mb="xs">
        {title}
      </Title>
      <Table.ScrollContainer minWidth={460} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table className="numbers" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{of}</Table.Th>
              {hasSeverity && <Table.Th>{text.columns.severity}</Table.Th>}
              {counted.map((name) => (
                <Table.Th key={name} ta="right">
                  {security.outcomes[name]}
                </Table.Th>
              ))}
              <Table.Th ta="right">{security.blocked}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={`${row.name} ${row.severity ?? ''}`}>
                <Table.Td>{row.name}</Table.Td>
                {hasSeverity && <Table.Td>{row.severity}</Table.Td>}
                {counted.map((name) => (
                  <Table.Td key={name} ta="right">
                    {row[name]}
                  </Table.Td>
                ))}
                <Table.Td ta="right">{rateOf(row)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
};
