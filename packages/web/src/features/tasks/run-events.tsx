import { Table, Text } from '@mantine/core';
import type { RunEvent } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import type { Mark } from '../../components/charts/time-chart.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';

const { run } = text;
const most = 100;

/** The newest happenings of a run, oldest first. */
export const useRunEvents = (id: number, runId: number) =>
  useQuery({
    queryKey: ['tasks', 'events', runId],
    queryFn: async (): Promise<RunEvent[]> =>
      (await client.tasks.events({ params: { id }, query: { runId, count: most, order: 'desc' } })).data.reverse(),
  });

const colors: Record<RunEvent['severity'], string> = { info: '#868e96', warning: '#e8590c', error: '#e03131' };
const nameOf = (type: string) => run.events[type] ?? type;

/** What is drawn on the axis of time: all but the steps every run takes. */
export const marksOf = (events: readonly RunEvent[]): Mark[] =>
  events.flatMap(({ ts, type, severity, message, data }, i) => {
    const isResumed = data['status'] === 4 && events.slice(0, i).some((before) => before.data['status'] === 5);
    if (type === 'note' || (type === 'status' && data['status'] !== 5 && !isResumed)) return [];
    return [{ at: Date.parse(ts), label: type === 'status' ? message : nameOf(type), color: colors[severity] }];
  });

export const RunEvents = ({ id, runId }: { id: number; runId: number }) => {
  const { data = [] } = useRunEvents(id, runId);
  if (data.length === 0) return <Text c="dimmed">{run.noEvents}</Text>;
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {data.map(({ seq, ts, type, severity, message }) => (
            <Table.Tr key={seq}>
              <Table.Td w={140}>
                <TimeText at={ts} />
              </Table.Td>
              <Table.Td w={180}>{nameOf(type)}</Table.Td>
              <Table.Td c={severity === 'error' ? 'red' : severity === 'warning' ? 'orange' : 'inherit'}>
                {message}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
};
