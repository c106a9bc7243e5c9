import { Text } from '@mantine/core';
import { type RunEvent, runStatus } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import type { Mark } from '../../../../components/charts/chart.ts';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { client } from '../../../../lib/client.ts';
import { text } from '../../../../lib/text.ts';
import { absoluteTime } from '../../../../lib/times.ts';
import { labelOf } from '../../../../texts/labels.ts';

const { run } = text;
const maxRows = 100;

/** The newest events of a run, oldest first. */
export const useRunEvents = (id: number, runId: number) =>
  useQuery({
    queryKey: ['tasks', 'events', runId],
    queryFn: async (): Promise<RunEvent[]> =>
      (await client.tasks.events({ params: { id }, query: { runId, count: maxRows, order: 'desc' } })).data.reverse(),
  });

const chartColors: Record<RunEvent['severity'], string> = { info: '#868e96', warning: '#e8590c', error: '#e03131' };
const textColors: Record<RunEvent['severity'], string> = { info: 'inherit', warning: 'orange', error: 'red' };
/** Events of routers have the name of their protocol. */
const nameOf = (type: string) => run.events[type] ?? labelOf(type);

/** A search has many: its beginning, the beginnings of its trials and its end are enough. */
const unmarked = new Set(['note', 'goalCalibrated', 'goalTrial']);
/** Of a trial its number. */
const markOf = ({ type, message, data }: RunEvent) => {
  if (type === 'goalTrialBegun') return String(data['number']);
  return type === 'status' ? message : nameOf(type);
};

/** Marks for the charts: all events except notes and the status changes that every run has. */
export const marksOf = (events: readonly RunEvent[]): Mark[] =>
  events.flatMap((event, i) => {
    const { ts, type, severity, data } = event;
    const isPause = data['status'] === runStatus.paused;
    const isResume =
      data['status'] === runStatus.running &&
      events.slice(0, i).some((before) => before.data['status'] === runStatus.paused);
    if (unmarked.has(type) || (type === 'status' && !isPause && !isResume)) return [];
    return [{ at: Date.parse(ts), label: markOf(event), color: chartColors[severity] }];
  });

const columns: readonly DataColumn<RunEvent>[] = [
  { width: 200, cell: ({ ts }) => <time dateTime={ts}>{absoluteTime(ts)}</time> },
  { width: 180, cell: ({ type }) => nameOf(type) },
  {
    cell: ({ severity, message }) => (
      <Text span size="sm" c={textColors[severity]}>
        {message}
      </Text>
    ),
  },
];

export const RunEvents = ({ id, runId }: { id: number; runId: number }) => {
  const { data = [] } = useRunEvents(id, runId);
  if (data.length === 0) return <Text c="dimmed">{run.noEvents}</Text>;
  return <DataTable columns={columns} rows={data} keyOf={({ seq }) => seq} minWidth={480} />;
};
