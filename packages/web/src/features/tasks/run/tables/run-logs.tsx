import { Code, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Pages } from '../../../../components/page.tsx';
import { client } from '../../../../lib/client.ts';
import { text } from '../../../../lib/text.ts';
import { choiceLabelOf } from '../../../../texts/choices.ts';

const { run, task: words } = text;
const levels = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof levels)[number];
const rowsPerPage = 100;
const pollMs = 3000;
const typingMs = 250;

interface RunLogsProps {
  id: number;
  runId: number;
  isActive: boolean;
}

/** The log of a run, with filters by level and text. */
export const RunLogs = ({ id, runId, isActive }: RunLogsProps) => {
  const [level, setLevel] = useState<Level | null>(null);
  const [typed, setTyped] = useState('');
  const [page, setPage] = useState(1);
  const [search] = useDebouncedValue(typed, typingMs);
  const query = { runId, count: rowsPerPage, page, ...(level !== null && { level }), ...(search !== '' && { search }) };
  const { data } = useQuery({
    queryKey: ['tasks', 'logs', query],
    queryFn: () => client.tasks.logs({ params: { id }, query }),
    placeholderData: keepPreviousData,
    refetchInterval: isActive ? pollMs : false,
  });
  const lines = data?.data ?? [];
  return (
    <Stack gap="xs">
      <Group>
        <TextInput
          aria-label={text.table.search}
          placeholder={text.table.search}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Select
          aria-label={run.level}
          placeholder={run.level}
          data={levels.map((value) => ({ value, label: choiceLabelOf(value, 'level') }))}
          value={level}
          onChange={(next) => setLevel(next as Level | null)}
          clearable
        />
      </Group>
      {lines.length === 0 ? (
        <Text c="dimmed">{words.noLogs}</Text>
      ) : (
        <Code block tabIndex={0} mah={480} style={{ overflow: 'auto' }}>
          {lines.map(({ ts, level: at, source, message }) => `${ts} ${at.padEnd(5)} ${source}: ${message}`).join('\n')}
        </Code>
      )}
      <Pages total={data?.cursor.totalPages ?? 1} page={page} onPage={setPage} />
    </Stack>
  );
};
