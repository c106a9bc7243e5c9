import { Alert, Badge, Group, Progress, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { isActive, isTerminal } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { TaskBadge } from '../../components/badges.tsx';
import { MissingPage } from '../../components/page-states.tsx';
import { sentenceOf } from '../../components/toasts.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { DefinitionPanel } from './definition-panel.tsx';
import { RunControls } from './run-controls.tsx';
import { RunEvents } from './run-events.tsx';
import { RunLogs } from './run-logs.tsx';
import { RunPanel } from './run-panel.tsx';
import { TaskMenu } from './task-menu.tsx';
import { TaskRuns } from './task-runs.tsx';

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
  // What was read stays in sight when reading it again does not work, as during a restart of the controller.
  if (error && task === undefined) return <Text role="alert">{sentenceOf(error)}</Text>;
  if (task === undefined) return <Skeleton height={400} />;
  return <TaskView task={task} wantedRun={Number(params.runId ?? 0)} />;
};

const useStatus = (task: Task) =>
  useQuery({
    queryKey: ['tasks', 'status', task.id],
    queryFn: async () => (await client.tasks.status({ params: { id: task.id } })).data,
    refetchInterval: ({ state }) => (isActive(state.data?.status ?? task.status) ? pollMs : false),
  }).data;

type Status = NonNullable<ReturnType<typeof useStatus>>;

const TaskView = ({ task, wantedRun }: { task: Task; wantedRun: number }) => {
  const { id } = task;
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const status = useStatus(task);
  const now = status?.status ?? task.status;
  const newest = status?.runId ?? task.lastRunId;
  const runId = wantedRun > 0 ? wantedRun : newest;
  const isWatched = runId === newest && isActive(now);
  return (
    <Stack>
      <Heading task={task} status={status} now={now} />
      {status && isActive(now) && <RunProgress status={status} />}
      {(status?.error || task.error) && isTerminal(now) && (
        <Alert color="red" variant="default" role="alert">
          {status?.error || task.error}
        </Alert>
      )}
      <Tabs
        value={String(search['tab'] ?? 'run')}
        onChange={(tab) => void navigate({ to: '.', search: { ...search, tab } as never, replace: true })}
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
            <RunPanel key={runId} task={task} runId={runId} status={now} isCurrent={runId === newest} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="runs" pt="md">
          <TaskRuns id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="md">
          {runId !== null && <RunEvents id={id} runId={runId} />}
        </Tabs.Panel>
        <Tabs.Panel value="logs" pt="md">
          {runId !== null && <RunLogs id={id} runId={runId} isActive={isWatched} />}
        </Tabs.Panel>
        <Tabs.Panel value="definition" pt="md">
          <DefinitionPanel task={task} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
};

const healths: Record<string, string> = { degraded: run.degraded, recovering: run.recovering };

const Heading = ({ task, status, now }: { task: Task; status: Status | undefined; now: number }) => (
  <Group justify="space-between">
    <div>
      <Group gap="sm">
        <Title order={1} size="h2">
          {task.comment || `#${task.id}`}
        </Title>
        <TaskBadge value={now} />
        {status && healths[status.health] !== undefined && isActive(now) && (
          <Badge color="yellow" variant="dot" tt="none">
            {healths[status.health]}
          </Badge>
        )}
      </Group>
      {task.project && (
        <Text size="sm" c="dimmed">
          {words.project}{' '}
          <Link to="/resources/$name/$id" params={{ name: 'projects', id: String(task.project.ID) }}>
            {task.project.name}
          </Link>
        </Text>
      )}
    </div>
    <Group gap="xs">
      <RunControls task={task} status={now} />
      <TaskMenu task={task} isActive={isActive(now)} />
    </Group>
  </Group>
);

const RunProgress = ({ status }: { status: Status }) => {
  const { progress, elapsedSec, remainingSec, phase, queuePosition } = status;
  const words = [
    clock(elapsedSec),
    ...(remainingSec === null ? [] : [run.left(clock(remainingSec))]),
    ...(phase === '' ? [] : [run.phases[phase]]),
    ...(queuePosition === undefined ? [] : [run.queued(queuePosition)]),
  ];
  return (
    <Group gap="sm" wrap="nowrap">
      <Progress value={progress * 100} style={{ flex: 1 }} aria-label={run.progress} color="orange" />
      <Text size="sm" className="numbers">
        {words.join(' · ')}
      </Text>
    </Group>
  );
};
