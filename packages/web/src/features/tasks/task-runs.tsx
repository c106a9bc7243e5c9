import { Checkbox, Group, Stack, Text } from '@mantine/core';
import type { Run } from '@rushhour/contract';
import { IconTrash } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { deviceNameOf } from './run/topology/run-device.ts';
import { TaskTrends } from './task-trends.tsx';

const { task: words, columns: headers } = text;

/** The runs of a task, newest first. Selected results can be deleted. */
export const TaskRuns = ({ id }: { id: number }) => {
  const [selected, setSelected] = useState<readonly number[]>([]);
  const mayRemove = useMay()('tasks', 'removeRuns');
  const queries = useQueryClient();
  const { data = [] } = useQuery({
    queryKey: ['tasks', 'runs', id],
    queryFn: async () => (await client.tasks.runs({ params: { id }, query: { count: 50 } })).data,
  });
  const onRemoved = () => {
    setSelected([]);
    void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  if (data.length === 0) return <Text c="dimmed">{words.neverRan}</Text>;
  return (
    <Stack gap="xs">
      <TaskTrends id={id} runs={data} />
      {selected.length > 0 && (
        <Group>
          <BulkButton
            label={words.deleteRuns(selected.length)}
            icon={IconTrash}
            items={data
              .filter((run) => selected.includes(run.id))
              .map((run) => ({ id: run.id, name: words.runNumber(run.number) }))}
            run={(array) => client.tasks.removeRuns({ params: { id }, body: { array } })}
            onDone={onRemoved}
            question={text.table.removeText}
          />
        </Group>
      )}
      <DataTable
        columns={[mayRemove && checkboxColumn(selected, setSelected), ...columns]}
        rows={data}
        keyOf={(run) => run.id}
        minWidth={560}
      />
    </Stack>
  );
};

const checkboxColumn = (
  selected: readonly number[],
  onSelect: (selected: readonly number[]) => void,
): DataColumn<Run> => ({
  label: text.table.selectAll,
  width: 36,
  cell: ({ id, number }) => (
    <Checkbox
      aria-label={text.table.select(words.runNumber(number))}
      checked={selected.includes(id)}
      onChange={() => onSelect(selected.includes(id) ? selected.filter((one) => one !== id) : [...selected, id])}
    />
  ),
});

const columns: readonly DataColumn<Run>[] = [
  {
    header: words.run,
    cell: ({ id, taskID, number }) => (
      <Link to="/tasks/$id/runs/$runId" params={{ id: String(taskID), runId: String(id) }}>
        {words.runNumber(number)}
      </Link>
    ),
  },
  { header: headers.status, cell: ({ status }) => <TaskBadge value={status} /> },
  { header: headers.verdict, cell: ({ verdict }) => <VerdictBadge value={verdict} /> },
  { header: headers.started, cell: ({ startedAt, queuedAt }) => <TimeText at={startedAt ?? queuedAt} /> },
  { header: words.duration, cell: ({ durationSec }) => clock(durationSec) },
  { header: text.trends.device, isMinor: true, cell: ({ labels }) => deviceNameOf(labels) || '–' },
  { header: words.startedBy, cell: ({ startedBy }) => startedBy?.realName ?? '–' },
];
