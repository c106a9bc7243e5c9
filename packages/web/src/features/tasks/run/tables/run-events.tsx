import { Stack, Text } from '@mantine/core';
import { type RunEvent, runStatus } from '@rushhour/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Mark } from '../../../../components/charts/chart.ts';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { Pages } from '../../../../components/page.tsx';
import { client } from '../../../../lib/client.ts';
import { text } from '../../../../lib/text.ts';
import { absoluteTime } from '../../../../lib/times.ts';
import { labelOf } from '../../../../texts/labels.ts';

const { run } = text;
const maxRows = 100;

const none: readonly RunEvent[] = [];

/** The newest events of a run, or those of an earlier page; oldest first. */
export const useRunEvents = (id: number, runId: number, page = 1) => {
  const { data } = useQuery({
    queryKey: ['tasks', 'events', runId, page],
    queryFn: async () => {
      const query = { runId, count: maxRows, page, order: 'desc' as const };
      const { data: rows, cursor } = await client.tasks.events({ params: { id }, query });
      return { events: rows.toReversed() as RunEvent[], pages: cursor.totalPages };
    },
    placeholderData: keepPreviousData,
  });
  return { events: data?.events ?? none, pages: data?.pages ?? 1 };
};

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
  const [page, setPage] = useState(1);
  const { events, pages } = useRunEvents(id, runId, page);
  if (events.length === 0) return <Text c="dimmed">{run.noEvents}</Text>;
  return (
    <Stack gap="xs">
      {pages > 1 && (
        <Text size="sm" c="dimmed">
          {run.newestFirst}
        </Text>
      )}
      <DataTable columns={columns} rows={events} keyOf={({ seq }) => seq} minWidth={480} />
      <Pages total={pages} page={page} onPage={setPage} />
    </Stack>
  );
};
