import { Card, Group, Table, Text, Title } from '@mantine/core';
import type { Dictionary } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { howMany } from '../../lib/units.ts';

const { dictionaries: words } = text;
const shown = 20;

/** The first rows, and rows drawn as a test would draw them. */
export const DictionaryDetails = ({ dictionary }: { dictionary: Dictionary }) => {
  const { id, columns, rows, values, rowCount } = dictionary;
  const { data: sample } = useQuery({
    queryKey: ['dictionaries', 'sample', id],
    queryFn: async () => {
      const query = { sample: 10, rowsLimit: 0 };
      return (await client.dictionaries.get({ params: { id }, query })).data.sample ?? [];
    },
    retry: false,
  });
  const first = rows.length > 0 ? rows.slice(0, shown) : values.slice(0, shown).map((value) => [value]);
  const drawn = (sample ?? []).map((row) => Object.values(row));
  return (
    <>
      {first.length > 0 && (
        <Rows
          title={words.rows}
          note={words.ofAll(howMany(first.length), howMany(rowCount))}
          columns={columns}
          rows={first}
        />
      )}
      {drawn.length > 0 && <Rows title={words.sample} note={words.sampleHelp} columns={columns} rows={drawn} />}
    </>
  );
};

interface RowsProps {
  title: string;
  note: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

const Rows = ({ title, note, columns, rows }: RowsProps) => (
  <Card withBorder>
    <Group justify="space-between" mb="xs">
      <Title order={2} size="h5">
        {title}
      </Title>
      <Text size="sm" c="dimmed">
        {note}
      </Text>
    </Group>
    <Table.ScrollContainer minWidth={200} tabIndex={0}>
      <Table verticalSpacing={3} aria-label={title}>
        {columns.length > 0 && (
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column}>{column}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
        )}
        <Table.Tbody ff="monospace" fz="xs">
          {rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows may be equal
            <Table.Tr key={i}>
              {row.map((cell, j) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells may be equal
                <Table.Td key={j}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </Card>
);
