import { Checkbox, Group, Stack, Table, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';

const { task: words } = text;

/** Every run of a task, newest first; results that nobody needs can be deleted. */
export const TaskRuns = ({ id }: { id: number }) => {
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const may = useMay();
  const queries = useQueryClient();
  const { data = [] } = useQuery({
    queryKey: ['tasks', 'runs', id],
    queryFn: async () => (await client.tasks.runs({ params: { id }, query: { count: 50 } })).data,
  });
  const onRemoved = () => {
    setChosen([]);
    void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  if (data.length === 0) return <Text c="dimmed">{words.neverRan}</Text>;
  const canRemove = may('tasks', 'removeRuns');
  const toggle = (run: number) =>
    setChosen(chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen, run]);
  return (
    <Stack gap="xs">
      {chosen.length > 0 && (
        <Group>
          <BulkButton
            label={words.deleteRuns(chosen.length)}
            icon={<IconTrash size={16} />}
            items={data
              .filter((one) => chosen.includes(one.id))
              .map((one) => ({ id: one.id, name: words.runNumber(one.number) }))}
            run={(array) => client.tasks.removeRuns({ params: { id }, body: { array } })}
            onDone={onRemoved}
            question={text.table.removeText}
          />
        </Group>
      )}
      <Table.ScrollContainer minWidth={560}>
        <Table verticalSpacing={6} className="numbers">
          <Table.Thead>
            <Table.Tr>
              {canRemove && <Table.Th w={36} aria-label={text.table.selectAll} />}
              {words.runColumns.map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map((one) => (
              <Table.Tr key={one.id}>
                {canRemove && (
                  <Table.Td>
                    <Checkbox
                      aria-label={text.table.select(words.runNumber(one.number))}
                      checked={chosen.includes(one.id)}
                      onChange={() => toggle(one.id)}
                    />
                  </Table.Td>
                )}
                <Table.Td>
                  <Link to="/tasks/$id/runs/$runId" params={{ id: String(id), runId: String(one.id) }}>
                    {words.runNumber(one.number)}
                  </Link>
                </Table.Td>
                <Table.Td>
                  <TaskBadge value={one.status} />
                </Table.Td>
                <Table.Td>
                  <VerdictBadge value={one.verdict} />
                </Table.Td>
                <Table.Td>
                  <TimeText at={one.startedAt ?? one.queuedAt} />
                </Table.Td>
                <Table.Td>{clock(one.durationSec)}</Table.Td>
                <Table.Td>{one.startedBy?.realName ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
};
