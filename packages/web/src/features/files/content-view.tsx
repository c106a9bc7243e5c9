import { Code, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CellTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';

const { files: words } = text;
type Preview = Awaited<ReturnType<typeof client.files.preview>>['data'];

/** A bounded preview of a file: rows, lines, archive members or bytes, depending on its type. */
export const ContentView = ({ id }: { id: number }) => {
  const isAllowed = useMay()('files', 'download');
  const { data, error } = useQuery({
    enabled: isAllowed,
    queryKey: ['files', 'preview', id],
    queryFn: async () => (await client.files.preview({ params: { id } })).data,
  });
  return (
    <Section title={words.content}>
      {error && <Problem error={error} title={words.notReady} />}
      {!isAllowed && <Text c="dimmed">{words.notAllowed}</Text>}
      {isAllowed && !data && !error && <Skeleton height={160} />}
      {data && <Shown preview={data} />}
      {data?.hasMore && (
        <Text size="xs" c="dimmed">
          …
        </Text>
      )}
    </Section>
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
  if ('columns' in preview) return <CellTable label={words.content} columns={preview.columns} rows={preview.rows} />;
  const rows = ('members' in preview ? preview.members : preview.rows) as readonly Record<string, unknown>[];
  const columns = Object.keys(rows[0] ?? {});
  return (
    <CellTable
      label={words.content}
      columns={columns.map((name) => labelOf(name))}
      rows={rows.map((row) => columns.map((column) => String(row[column] ?? '')))}
    />
  );
};
