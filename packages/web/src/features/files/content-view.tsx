import { Card, Code, Skeleton, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Problem } from '../../components/problem.tsx';
import { labelOf } from '../../components/schema-form/schema.ts';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

const { files: words } = text;
type Preview = Awaited<ReturnType<typeof client.files.preview>>['data'];

/** A bounded look into a file: rows, lines, members or bytes, by what it is. */
export const ContentView = ({ id }: { id: number }) => {
  const { data, error } = useQuery({
    queryKey: ['files', 'preview', id],
    queryFn: async () => (await client.files.preview({ params: { id } })).data,
  });
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="xs">
        {words.content}
      </Title>
      {error && <Problem error={error} title={words.notReady} />}
      {!data && !error && <Skeleton height={160} />}
      {data && <Shown preview={data} />}
      {data?.hasMore && (
        <Text size="xs" c="dimmed">
          …
        </Text>
      )}
    </Card>
  );
};

const Shown = ({ preview }: { preview: Preview }) => {
  if ('lines' in preview) {
    return (
      <Code block tabIndex={0} mah={400} style={{ overflow: 'auto' }}>
        {preview.lines.join('\n')}
      </Code>
    );
  }
  if ('columns' in preview) return <Rows columns={preview.columns} rows={preview.rows} />;
  const rows = ('members' in preview ? preview.members : preview.rows) as readonly Record<string, unknown>[];
  const columns = Object.keys(rows[0] ?? {});
  return (
    <Rows
      columns={columns.map((name) => labelOf(name))}
      rows={rows.map((row) => columns.map((column) => String(row[column] ?? '')))}
    />
  );
};

const Rows = ({ columns, rows }: { columns: readonly string[]; rows: readonly (readonly string[])[] }) => (
  <Table.ScrollContainer minWidth={320} tabIndex={0}>
    <Table verticalSpacing={3} ff="monospace" fz="xs" aria-label={words.content}>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file may have the same name
            <Table.Th key={i}>{column}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
          <Table.Tr key={i}>
            {row.map((cell, j) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: nor do their cells
              <Table.Td key={j}>{cell}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
