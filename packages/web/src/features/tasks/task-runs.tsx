import { Button, Checkbox, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { Run } from '@rushhour/contract';
import { IconArrowsDiff, IconTrash } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { Pages } from '../../components/page.tsx';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { deviceNameOf } from './run/topology/run-device.ts';
import { TaskTrends } from './task-trends.tsx';

const { task: words, columns: headers } = text;

const rowsPerPage = 50;

/** The runs of a task, newest first. Two selected ones can be compared, and any number deleted. */
export const TaskRuns = ({ id }: { id: number }) => {
  const [selected, setSelected] = useState<readonly number[]>([]);
  const mayRemove = useMay()('tasks', 'removeRuns');
  const queries = useQueryClient();
  const { page, set } = usePageSearch();
  const { data: list } = useQuery({
    queryKey: ['tasks', 'runs', id, page],
    queryFn: () => client.tasks.runs({ params: { id }, query: { count: rowsPerPage, page } }),
    placeholderData: keepPreviousData,
  });
  const data = list?.data ?? [];
  const chosen = data.filter((run) => selected.includes(run.id));
  const onRemoved = () => {
    setSelected([]);
    void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  if (list === undefined) return <Skeleton height={120} />;
  if (data.length === 0) return <Text c="dimmed">{words.neverRan}</Text>;
  return (
    <Stack gap="xs">
      {page === 1 && <TaskTrends id={id} runs={data} />}
      {chosen.length > 0 && (
        <Group gap="xs">
          <CompareButton id={id} runs={chosen} />
          {mayRemove && (
            <BulkButton
              label={words.deleteRuns(chosen.length)}
              icon={IconTrash}
              items={chosen.map((run) => ({ id: run.id, name: words.runNumber(run.number) }))}
              run={(array) => client.tasks.removeRuns({ params: { id }, body: { array } })}
              onDone={onRemoved}
              question={text.table.removeText}
            />
          )}
        </Group>
      )}
      <DataTable
        columns={[checkboxColumn(selected, setSelected), ...columns]}
        rows={data}
        keyOf={(run) => run.id}
        minWidth={320}
      />
      <Pages total={list.cursor.totalPages} page={page} onPage={(next) => set({ page: next })} />
    </Stack>
  );
};

/** Leads to the newer of two runs, compared with the older one. */
const CompareButton = ({ id, runs }: { id: number; runs: readonly Run[] }) => {
  const [newer, older] = runs.toSorted((a, b) => b.number - a.number);
  const isPair = runs.length === 2 && newer !== undefined && older !== undefined;
  return (
    <Button
      variant="default"
      leftSection={<IconArrowsDiff size={16} />}
      disabled={!isPair}
      title={isPair ? undefined : words.compareTwo}
      renderRoot={(props) =>
        isPair ? (
          <Link
            {...props}
            to="/tasks/$id/runs/$runId"
            params={{ id: String(id), runId: String(newer.id) }}
            search={{ with: older.id, withTask: id }}
          />
        ) : (
          <button type="button" {...props} />
        )
      }
    >
      {words.compare}
    </Button>
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
  { header: headers.status, isMinor: true, cell: ({ status }) => <TaskBadge value={status} /> },
  { header: headers.verdict, cell: ({ verdict }) => <VerdictBadge value={verdict} /> },
  { header: headers.started, cell: ({ startedAt, queuedAt }) => <TimeText at={startedAt ?? queuedAt} /> },
  { header: words.duration, isMinor: true, cell: ({ durationSec }) => clock(durationSec) },
  { header: text.trends.device, isMinor: true, cell: ({ labels }) => deviceNameOf(labels) || '–' },
  { header: words.startedBy, isMinor: true, cell: ({ startedBy }) => startedBy?.realName ?? '–' },
];
