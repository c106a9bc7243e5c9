import { ActionIcon, Anchor, Badge, Button, Group, Skeleton, Stack, Title } from '@mantine/core';
import type { Schedule } from '@rushhour/contract';
import { IconChevronLeft, IconChevronRight, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { EmptyState, PageHeading } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { spanOf } from './calendar.ts';
import { cronText } from './cron-text.ts';
import { MonthCalendar } from './month-calendar.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';

const { schedules: words } = text;
const { columns: headers } = words;
const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });
const maxRows = 100;

/** The month of the URL, such as `2026-11`, or the current month. */
const monthOf = (given = ''): Date => {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(given) ?? [];
  const now = new Date();
  return year === undefined
    ? new Date(now.getFullYear(), now.getMonth(), 1)
    : new Date(Number(year), Number(month) - 1, 1);
};

const monthText = (date: Date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;

const useSchedules = (month: Date) => {
  const { from, to } = spanOf(month);
  // The API lists future starts only.
  const [now] = useState(() => Date.now());
  const notPast = (date: Date) => new Date(Math.max(date.getTime(), now)).toISOString();
  const query = { from: notPast(from), to: notPast(to), count: maxRows };
  return useQuery({
    queryKey: ['tasks', 'schedules', query],
    queryFn: async () => (await client.tasks.schedules({ query })).data,
    placeholderData: keepPreviousData,
  });
};

/** The schedules of all tasks, as a calendar and as a list. */
export const SchedulesPage = () => {
  const { text: read, number, set } = usePageSearch();
  const navigate = useNavigate();
  const mayChange = useMay()('tasks', 'schedule');
  const taskId = number('task');
  const [edited, setEdited] = useState<Schedule | 'new' | undefined>(taskId === undefined ? undefined : 'new');
  const month = monthOf(read('month'));
  const { data, error } = useSchedules(month);
  const open = (schedule: Schedule) =>
    mayChange ? setEdited(schedule) : void navigate({ to: '/tasks/$id', params: { id: String(schedule.taskID) } });
  const schedule = edited === 'new' ? data?.find(({ taskID }) => taskID === taskId) : edited;
  return (
    <Stack>
      <PageHeading title={text.nav.schedules}>
        {mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited('new')}>
            {words.new}
          </Button>
        )}
      </PageHeading>
      {error && <Problem error={error} />}
      <MonthPicker month={month} onChange={(next) => set({ month: monthText(next), task: undefined })} />
      {data === undefined && !error && <Skeleton height={400} />}
      {data && <Months month={month} schedules={data} onOpen={open} />}
      {edited !== undefined && (edited !== 'new' || data !== undefined) && (
        <ScheduleDialog schedule={schedule} taskId={taskId} onClose={() => setEdited(undefined)} />
      )}
    </Stack>
  );
};

const MonthPicker = ({ month, onChange }: { month: Date; onChange: (month: Date) => void }) => {
  const move = (by: number) => onChange(new Date(month.getFullYear(), month.getMonth() + by, 1));
  return (
    <Group>
      <ActionIcon variant="default" aria-label={words.previous} onClick={() => move(-1)}>
        <IconChevronLeft size={16} />
      </ActionIcon>
      <Title order={2} size="h4" miw={160} ta="center">
        {monthName.format(month)}
      </Title>
      <ActionIcon variant="default" aria-label={words.next} onClick={() => move(1)}>
        <IconChevronRight size={16} />
      </ActionIcon>
      <Button variant="subtle" size="xs" onClick={() => onChange(new Date())}>
        {words.today}
      </Button>
    </Group>
  );
};

interface MonthsProps {
  month: Date;
  schedules: readonly Schedule[];
  onOpen: (schedule: Schedule) => void;
}

const Months = ({ month, schedules, onOpen }: MonthsProps) => (
  <>
    <div className="wide-only">
      <MonthCalendar month={month} schedules={schedules} onChoose={onOpen} />
    </div>
    {schedules.length === 0 ? (
      <EmptyState title={words.none} />
    ) : (
      <DataTable columns={columnsOf(onOpen)} rows={schedules} keyOf={({ taskID }) => taskID} minWidth={340} />
    )}
  </>
);

const whenOf = ({ kind, at, cron, timezone }: Schedule) =>
  kind === 'once' && at !== null ? absoluteTime(at) : `${cronText(cron ?? '')} (${timezone})`;

const columnsOf = (onOpen: MonthsProps['onOpen']): DataColumn<Schedule>[] => [
  {
    header: headers.task,
    cell: ({ taskID, comment }) => (
      <Link to="/tasks/$id" params={{ id: String(taskID) }}>
        {comment || `#${taskID}`}
      </Link>
    ),
  },
  {
    header: headers.schedule,
    cell: (schedule) => (
      <Anchor component="button" type="button" ta="left" onClick={() => onOpen(schedule)}>
        {whenOf(schedule)}
      </Anchor>
    ),
  },
  { header: headers.next, cell: ({ nextRunAt }) => <TimeText at={nextRunAt} /> },
  // On a phone a schedule that is off has no next run.
  { header: headers.enabled, isMinor: true, cell: ({ enabled }) => (enabled ? text.filters.yes : text.filters.no) },
  {
    header: headers.conflicts,
    cell: ({ conflicts }) =>
      conflicts.length === 0 ? (
        '–'
      ) : (
        <Badge color="red" variant="dot" tt="none">
          {words.conflicts(conflicts.length)}
        </Badge>
      ),
  },
];
