import { Badge, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { text } from '../../lib/text.ts';
import { type DataColumn, DataTable } from '../data-table.tsx';
import { Pages } from '../page.tsx';

const { imports } = text;
const rowsPerPage = 20;

/** The result of one template, row or sample. */
export interface ImportLine {
  /** Path or row number in the imported file. */
  readonly position: string;
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

const columns: readonly DataColumn<ImportLine>[] = [
  { cell: ({ name, position }) => name || position, isLong: true },
  {
    cell: ({ status }) => (
      <Badge color={colors[status] ?? 'gray'} variant="dot" tt="none">
        {status}
      </Badge>
    ),
  },
  { cell: ({ reason }) => reason, isLong: true },
];

/** The results of an import, with a filter by status. */
export const ImportReport = ({ lines }: { lines: readonly ImportLine[] }) => {
  const [status, setStatus] = useState<string | null>(null);
  const [page, setPage] = useState(1);
  const byStatus = Map.groupBy(lines, (line) => line.status);
  const shown = status === null ? lines : (byStatus.get(status) ?? []);
  return (
    <Stack gap="xs" component="section" aria-label={imports.report}>
      <Group justify="space-between">
        <Text size="sm" role="status">
          {[...byStatus].map(([name, found]) => `${found.length} ${name}`).join(', ') || imports.nothing}
        </Text>
        <Select
          aria-label={text.columns.status}
          placeholder={text.columns.status}
          data={[...byStatus.keys()]}
          value={status}
          onChange={(next) => {
            setStatus(next);
            setPage(1);
          }}
          size="xs"
          clearable
        />
      </Group>
      <DataTable
        columns={columns}
        rows={shown.slice((page - 1) * rowsPerPage, page * rowsPerPage)}
        keyOf={({ position, name }) => `${position} ${name}`}
        minWidth={420}
      />
      <Pages total={shown.length / rowsPerPage} page={page} onPage={setPage} />
    </Stack>
  );
};
