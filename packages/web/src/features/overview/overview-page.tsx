import { Anchor, Button, Grid, Group, Progress, Skeleton, Stack, Text } from '@mantine/core';
import { activeStatuses, isActive, runStatus, type Task } from '@rushhour/contract';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { AgentBadge, TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { EmptyState, PageHeading, Section } from '../../components/page.tsx';
import { TaskLink } from '../../components/task-link.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';

const { overview: words } = text;
const refreshMs = 3000;

/** Running tests, recent runs, the status of agents and what starts next. */
export const OverviewPage = () => {
  const may = useMay();
  return (
    <Stack>
      <PageHeading title={text.nav.overview}>
        {may('tasks', 'create') && may('tasks', 'start') && (
          <Button leftSection={<IconPlayerPlay size={16} />} renderRoot={(props) => <Link {...props} to="/new" />}>
            {text.nav.newTest}
          </Button>
        )}
      </PageHeading>
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Running />
            <Recent />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <Agents />
            {may('tasks', 'schedules') && <Upcoming />}
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
};

const useTasks = (statuses: readonly number[], key: 'startedAt' | 'finishedAt') =>
  useQuery({
    queryKey: ['tasks', 'list', 'overview', statuses],
    queryFn: async () => (await client.tasks.list({ query: { status: statuses.join(','), key, count: 8 } })).data,
    refetchInterval: refreshMs,
  }).data;

const Running = () => {
  const tasks = useTasks(activeStatuses, 'startedAt');
  return (
    <Section title={words.running}>
      {tasks === undefined && <Skeleton height={60} />}
      {tasks?.length === 0 && <EmptyState title={words.noneRunning} />}
      <Stack gap="sm">
        {tasks?.map((task) => (
          <RunningTask key={task.id} task={task} />
        ))}
      </Stack>
    </Section>
  );
};

const RunningTask = ({ task }: { task: Task }) => {
  const { data } = useQuery({
    queryKey: ['tasks', 'status', task.id],
    queryFn: async () => (await client.tasks.status({ params: { id: task.id } })).data,
    refetchInterval: refreshMs,
  });
  return (
    <div>
      <Group justify="space-between" mb={4} fz="sm">
        <TaskLink task={task} />
        <Group gap="xs">
          {data?.remainingSec !== null && <Text size="sm">{words.left(clock(data?.remainingSec))}</Text>}
          <TaskBadge value={data?.status ?? task.status} />
        </Group>
      </Group>
      <Progress value={(data?.progress ?? 0) * 100} aria-label={words.progress} animated={isActive(task.status)} />
    </div>
  );
};

const columns: readonly DataColumn<Task>[] = [
  {
    cell: (task) => (
      <>
        <TaskLink task={task} />
        {task.error !== '' && (
          <Text size="xs" c="red">
            {task.error}
          </Text>
        )}
      </>
    ),
  },
  { cell: ({ status }) => <TaskBadge value={status} />, isMinor: true },
  { cell: ({ verdict }) => <VerdictBadge value={verdict} /> },
  { cell: ({ finishedAt }) => <TimeText at={finishedAt} /> },
];

const Recent = () => {
  const tasks = useTasks([runStatus.finished, runStatus.stopped, runStatus.failed], 'finishedAt');
  return (
    <Section title={words.recent}>
      {tasks?.length === 0 && <EmptyState title={words.noneFinished} />}
      {tasks !== undefined && tasks.length > 0 && <DataTable columns={columns} rows={tasks} keyOf={({ id }) => id} />}
    </Section>
  );
};

const Agents = () => {
  const { data } = useQuery({
    queryKey: ['agents', 'list', 'overview'],
    queryFn: async () => (await client.agents.list({ query: { count: 12, key: 'name', order: 'asc' } })).data,
    refetchInterval: refreshMs,
  });
  return (
    <Section title={text.nav.agents}>
      {data?.length === 0 && <EmptyState title={words.noAgents} />}
      <Stack gap="xs" fz="sm">
        {data?.map((agent) => (
          <Group key={agent.id} justify="space-between" wrap="nowrap">
            <Anchor renderRoot={(props) => <Link {...props} to={`/resources/agents/${agent.id}`} />}>
              {agent.name}
            </Anchor>
            <AgentBadge value={agent.status} />
          </Group>
        ))}
      </Stack>
    </Section>
  );
};

const maxUpcoming = 5;
const scheduleRefreshMs = 60_000;

/** The next starts of schedules, the earliest first. */
const Upcoming = () => {
  const { data = [] } = useQuery({
    queryKey: ['tasks', 'schedules', 'overview'],
    queryFn: async () => (await client.tasks.schedules({ query: { count: 100 } })).data,
    refetchInterval: scheduleRefreshMs,
  });
  const next = data
    .flatMap(({ taskID, comment, enabled, nextRunAt }) =>
      enabled && nextRunAt !== null ? [{ id: taskID, comment, at: nextRunAt }] : [],
    )
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, maxUpcoming);
  if (next.length === 0) return null;
  return (
    <Section title={words.upcoming}>
      <Stack gap="xs" fz="sm">
        {next.map(({ id, comment, at }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <TaskLink task={{ id, comment }} />
            <TimeText at={at} />
          </Group>
        ))}
      </Stack>
    </Section>
  );
};
