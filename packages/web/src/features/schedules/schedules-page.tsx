import { ActionIcon, Anchor, Badge, Button, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import type { Schedule } from '@rushhour/contract';
import { IconChevronLeft, IconChevronRight, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { EmptyState, Guarded } from '../../components/page-states.tsx';
import { Problem } from '../../components/problem.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { absoluteTime } from '../../lib/times.ts';
import { spanOf } from './calendar.ts';
import { MonthCalendar } from './month-calendar.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';

const { schedules: words } = text;
const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });
const most = 100;

/** `2026-11` in the address, this month when there is none. */
const monthIn = (search: Record<string, unknown>): Date => {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(String(search['month'] ?? '')) ?? [];
  const now = new Date();
  return year === undefined
    ? new Date(now.getFullYear(), now.getMonth(), 1)
    : new Date(Number(year), Number(month) - 1, 1);
};

const monthText = (date: Date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;

/** Everything that will start by itself, and where it gets in each other's way. */
export const SchedulesPage = () => (
  <Guarded needs={['tasks', 'schedules']}>
    <Schedules />
  </Guarded>
);

const Schedules = () => {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const may = useMay();
  const asked = Number(search['task'] ?? 0);
  const [edited, setEdited] = useState<Schedule | 'new' | undefined>(asked > 0 ? 'new' : undefined);
  const month = monthIn(search);
  const { from, to } = spanOf(month);
  // What would have started earlier is no plan any more.
  const [now] = useState(() => Date.now());
  const later = (date: Date) => new Date(Math.max(date.getTime(), now)).toISOString();
  const query = { from: later(from), to: later(to), count: most };
  const { data, error } = useQuery({
    queryKey: ['tasks', 'schedules', query],
    queryFn: async () => (await client.tasks.schedules({ query })).data,
    placeholderData: keepPreviousData,
  });
  const go = (by: number) => {
    const next = by === 0 ? new Date() : new Date(month.getFullYear(), month.getMonth() + by, 1);
    void navigate({ to: '.', search: { month: monthText(next) } as never, replace: true });
  };
  const mayChange = may('tasks', 'schedule');
  const open = (schedule: Schedule) =>
    mayChange ? setEdited(schedule) : void navigate({ to: '/tasks/$id', params: { id: String(schedule.taskID) } });
  const known = edited === 'new' ? data?.find(({ taskID }) => taskID === asked) : edited;
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {text.nav.schedules}
        </Title>
        {mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited('new')}>
            {words.new}
          </Button>
        )}
      </Group>
      {error && <Problem error={error} />}
      <Group>
        <ActionIcon variant="default" aria-label={words.previous} onClick={() => go(-1)}>
          <IconChevronLeft size={16} />
        </ActionIcon>
        <Title order={2} size="h4" miw={160} ta="center">
          {monthName.format(month)}
        </Title>
        <ActionIcon variant="default" aria-label={words.next} onClick={() => go(1)}>
          <IconChevronRight size={16} />
        </ActionIcon>
        <Button variant="subtle" size="xs" onClick={() => go(0)}>
          {words.today}
        </Button>
      </Group>
      {data === undefined ? (
        !error && <Skeleton height={400} />
      ) : (
        <Months month={month} schedules={data} onChoose={open} />
      )}
      {edited !== undefined && (edited !== 'new' || data !== undefined) && (
        <ScheduleDialog schedule={known} taskId={asked > 0 ? asked : undefined} onClose={() => setEdited(undefined)} />
      )}
    </Stack>
  );
};

interface MonthsProps {
  month: Date;
  schedules: readonly Schedule[];
  onChoose: (schedule: Schedule) => void;
}

const Months = ({ month, schedules, onChoose }: MonthsProps) => (
  <>
    <div className="wide-only">
      <MonthCalendar month={month} schedules={schedules} onChoose={onChoose} />
    </div>
    {schedules.length === 0 ? (
      <EmptyState title={words.none} />
    ) : (
      <ScheduleTable schedules={schedules} onChoose={onChoose} />
    )}
  </>
);

const whenOf = ({ kind, at, cron, timezone }: Schedule) =>
  kind === 'once' && at !== null ? absoluteTime(at) : `${cron} (${timezone})`;

const ScheduleTable = ({ schedules, onChoose }: Omit<MonthsProps, 'month'>) => (
  <Table.ScrollContainer minWidth={520}>
    <Table verticalSpacing="xs" className="numbers">
      <Table.Thead>
        <Table.Tr>
          {words.columns.map((name) => (
            <Table.Th key={name}>{name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {schedules.map((schedule) => (
          <Table.Tr key={schedule.taskID}>
            <Table.Td>
              <Link to="/tasks/$id" params={{ id: String(schedule.taskID) }}>
                {schedule.comment || `#${schedule.taskID}`}
              </Link>
            </Table.Td>
            <Table.Td>
              <Anchor component="button" type="button" size="sm" onClick={() => onChoose(schedule)}>
                {whenOf(schedule)}
              </Anchor>
            </Table.Td>
            <Table.Td>
              <TimeText at={schedule.nextRunAt} />
            </Table.Td>
            <Table.Td>{schedule.enabled ? text.filters.yes : text.filters.no}</Table.Td>
            <Table.Td>
              {schedule.conflicts.length > 0 ? (
                <Badge color="red" variant="dot" tt="none">
                  {words.conflicts(schedule.conflicts.length)}
                </Badge>
              ) : (
                <Text span c="dimmed">
                  –
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
