import { Alert, Badge, Card, Code, Group, Progress, Skeleton, Stack, Table, Tabs, Text, Title } from '@mantine/core';
import type { MetricSnapshot, RunEvent, Task } from '@rushhour/contract';
import { plugins } from '@rushhour/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { MissingPage } from '../../components/page-states.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { sentenceOf } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { isActive, isOver } from '../../lib/task-status.ts';
import { type TaskEvent, useTaskStream } from '../../lib/task-stream.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { RunCharts } from './run-charts.tsx';
import { RunControls } from './run-controls.tsx';
import { RunResult } from './run-result.tsx';
import { useRunSeries } from './run-series.ts';

const { run, task: words } = text;
const pollMs = 2000;

/** A task: its run as it happens or as it was, its earlier runs, and what it is made of. */
export const TaskPage = () => {
  const params = useParams({ strict: false });
  const id = Number(params.id);
  const { data: task, error } = useQuery({
    queryKey: ['tasks', 'item', id],
    queryFn: async () => (await client.tasks.get({ params: { id } })).data,
    enabled: Number.isInteger(id),
  });
  if (!Number.isInteger(id)) return <MissingPage />;
  if (error) return <Text role="alert">{sentenceOf(error)}</Text>;
  if (task === undefined) return <Skeleton height={400} />;
  const chosen = Number(params.runId ?? task.lastRunId ?? 0);
  return <TaskView task={task} runId={chosen === 0 ? null : chosen} />;
};

const TaskView = ({ task, runId }: { task: Task; runId: number | null }) => {
  const { id } = task;
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const { data: status } = useQuery({
    queryKey: ['tasks', 'status', id],
    queryFn: async () => (await client.tasks.status({ params: { id } })).data,
    refetchInterval: ({ state }) => (isActive(state.data?.status ?? task.status) ? pollMs : false),
  });
  const now = status?.status ?? task.status;
  return (
    <Stack>
      <Group justify="space-between">
        <Group gap="sm">
          <Title order={1} size="h2">
            {task.comment || `#${id}`}
          </Title>
          <TaskBadge value={now} />
          {status?.health === 'degraded' && (
            <Badge color="yellow" variant="dot" tt="none">
              {run.degraded}
            </Badge>
          )}
        </Group>
        <RunControls id={id} status={now} />
      </Group>
      {status && isActive(now) && (
        <Group gap="sm" wrap="nowrap">
          <Progress value={status.progress * 100} style={{ flex: 1 }} aria-label={run.progress} color="orange" />
          <Text size="sm" className="numbers">
            {clock(status.elapsedSec)} {status.remainingSec !== null && `· ${run.left(clock(status.remainingSec))}`}
          </Text>
        </Group>
      )}
      {(status?.error || task.error) && isOver(now) && (
        <Alert color="red" role="alert">
          {status?.error || task.error}
        </Alert>
      )}
      <Tabs
        value={String(search['tab'] ?? 'run')}
        onChange={(tab) => void navigate({ to: '.', search: { tab } as never, replace: true })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="run">{words.run}</Tabs.Tab>
          <Tabs.Tab value="runs">{words.runs}</Tabs.Tab>
          <Tabs.Tab value="events">{words.events}</Tabs.Tab>
          <Tabs.Tab value="logs">{words.logs}</Tabs.Tab>
          <Tabs.Tab value="definition">{words.definition}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="run" pt="md">
          {runId === null ? (
            <Text c="dimmed">{words.neverRan}</Text>
          ) : (
            <RunPanel task={task} runId={runId} status={now} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="runs" pt="md">
          <Runs id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="md">
          {runId !== null && <Events id={id} runId={runId} />}
        </Tabs.Panel>
        <Tabs.Panel value="logs" pt="md">
          {runId !== null && <Logs id={id} runId={runId} />}
        </Tabs.Panel>
        <Tabs.Panel value="definition" pt="md">
          <Code block tabIndex={0}>
            {JSON.stringify(task.configuration, null, 2)}
          </Code>
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
};

const pluginOf = (task: Task) => plugins.find(({ id }) => id === task.configuration[0]?.plugin.id)?.name ?? 'http';

const RunPanel = ({ task, runId, status }: { task: Task; runId: number; status: number }) => {
  const { id } = task;
  const queries = useQueryClient();
  const plugin = pluginOf(task);
  const isCurrent = runId === task.lastRunId || task.lastRunId === null;
  const { series, add, reload } = useRunSeries(id, runId, plugin);
  const { data: events } = useEvents(id, runId);
  const isWatched = isCurrent && isActive(status);
  const { data: result } = useQuery({
    queryKey: ['tasks', 'run', runId],
    queryFn: async () => (await client.tasks.run({ params: { id, runId } })).data,
    enabled: !isWatched,
  });
  const take = ({ event, data }: TaskEvent) => {
    if (event === 'metrics') return add(data as MetricSnapshot);
    if (event === 'resync') return void reload();
    void queries.invalidateQueries({
      queryKey: ['tasks', event === 'event' || event === 'threshold' ? 'events' : 'status'],
    });
    if (event === 'end') void queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  const isLive = useTaskStream(id, isWatched, take);
  return (
    <Stack>
      {isWatched && (
        <Text size="xs" c="dimmed" role="status">
          {isLive ? run.live : run.reconnecting}
        </Text>
      )}
      <RunCharts series={series} plugin={plugin} events={events ?? []} />
      {result && <RunResult result={result} />}
    </Stack>
  );
};

const useEvents = (id: number, runId: number) =>
  useQuery({
    queryKey: ['tasks', 'events', runId],
    queryFn: async (): Promise<RunEvent[]> =>
      (await client.tasks.events({ params: { id }, query: { runId, count: 100 } })).data,
  });

const Events = ({ id, runId }: { id: number; runId: number }) => {
  const { data = [] } = useEvents(id, runId);
  return (
    <Table verticalSpacing={4}>
      <Table.Tbody>
        {data.map(({ seq, ts, type, severity, message }) => (
          <Table.Tr key={seq}>
            <Table.Td w={140}>
              <TimeText at={ts} />
            </Table.Td>
            <Table.Td w={160}>{type}</Table.Td>
            <Table.Td c={severity === 'error' ? 'red' : severity === 'warning' ? 'orange' : 'inherit'}>
              {message}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
};

const Logs = ({ id, runId }: { id: number; runId: number }) => {
  const { data = [] } = useQuery({
    queryKey: ['tasks', 'logs', runId],
    queryFn: async () => (await client.tasks.logs({ params: { id }, query: { runId, count: 100 } })).data,
    refetchInterval: 5000,
  });
  if (data.length === 0) return <Text c="dimmed">{words.noLogs}</Text>;
  return (
    <Code block tabIndex={0}>
      {data.map(({ ts, level, source, message }) => `${ts} ${level.padEnd(5)} ${source}: ${message}`).join('\n')}
    </Code>
  );
};

const Runs = ({ id }: { id: number }) => {
  const { data = [] } = useQuery({
    queryKey: ['tasks', 'runs', id],
    queryFn: async () => (await client.tasks.runs({ params: { id }, query: { count: 50 } })).data,
  });
  if (data.length === 0) return <Text c="dimmed">{words.neverRan}</Text>;
  return (
    <Card withBorder padding="xs">
      <Table verticalSpacing={6}>
        <Table.Tbody>
          {data.map((one) => (
            <Table.Tr key={one.id}>
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
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
};
