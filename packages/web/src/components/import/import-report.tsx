import { Badge, Group, Pagination, Select, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { text } from '../../lib/text.ts';

const { imports } = text;
const rows = 20;

/** What became of one template, row or sample. */
export interface ImportLine {
  readonly place: string;
  readonly name: string;
  readonly status: string;
  readonly reason: string;
}

const colors: Readonly<Record<string, string>> = {
  imported: 'teal',
  created: 'teal',
  updated: 'blue',
  disabled: 'yellow',
  refused: 'red',
  skipped: 'orange',
};

/** Every line of an import, to be looked through by what became of it. */
export const ImportReport = ({ lines }: { lines: readonly ImportLine[] }) => {
  const [status, setStatus] = useState<string | null>(null);
  const [page, setPage] = useState(1);
  const counts = Map.groupBy(lines, (line) => line.status);
  const chosen = lines.filter((line) => status === null || line.status === status);
  const choose = (next: string | null) => {
    setStatus(next);
    setPage(1);
  };
  return (
    <Stack gap="xs" component="section" aria-label={imports.report}>
      <Group justify="space-between">
        <Text size="sm" role="status">
          {[...counts].map(([name, found]) => `${found.length} ${name}`).join(', ') || imports.nothing}
        </Text>
        <Select
          aria-label={text.columns.status}
          placeholder={text.columns.status}
          data={[...counts.keys()]}
          value={status}
          onChange={choose}
          size="xs"
          clearable
        />
      </Group>
      <Lines lines={chosen.slice((page - 1) * rows, page * rows)} />
      {chosen.length > rows && (
        <Pagination
          total={Math.ceil(chosen.length / rows)}
          value={page}
          onChange={setPage}
          size="sm"
          getControlProps={(control) => ({ 'aria-label': control })}
          getItemProps={(number) => ({ 'aria-label': text.table.page(number) })}
        />
      )}
    </Stack>
  );
};

const Lines = ({ lines }: { lines: readonly ImportLine[] }) => (
  <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table verticalSpacing={4}>
      <Table.Tbody>
        {lines.map(({ place, name, status, reason }) => (
          <Table.Tr key={`${place} ${name}`}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{name || place}</Table.Td>
            <Table.Td>
              <Badge color={colors[status] ?? 'gray'} variant="dot" tt="none">
                {status}
              </Badge>
            </Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{reason}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
