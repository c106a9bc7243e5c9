import { Alert, Badge, Group, Progress, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { isActive, isTerminal, type Task } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useDeferredValue } from 'react';
import { TaskBadge } from '../../components/badges.tsx';
import { FailedPage, MissingPage } from '../../components/page.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import { usePageSearch } from '../../lib/use-page-search.ts';
import { DefinitionPanel } from './definition-panel.tsx';
import { RunControls } from './run/run-controls.tsx';
import { RunPanel } from './run/run-panel.tsx';
import { RunEvents } from './run/tables/run-events.tsx';
import { RunLogs } from './run/tables/run-logs.tsx';
import { TaskTopology } from './run/topology/run-topology.tsx';
import { TaskMenu } from './task-menu.tsx';
import { TaskRuns } from './task-runs.tsx';

const { run, task: words } = text;
const pollMs = 2000;
/** A task that does not run may be started by a schedule, another user or the command line. */
const idlePollMs = 5000;

/** A task: its current or selected run, all runs, events, logs and definition. */
export const TaskPage = () => {
  const params = useParams({ strict: false });
  const id = Number(params.id);
  const { data: task, error } = useQuery({
    queryKey: ['tasks', 'item', id],
    queryFn: async () => (await client.tasks.get({ params: { id } })).data,
    enabled: Number.isInteger(id),
  });
  if (!Number.isInteger(id)) return <MissingPage />;
  // If a refresh fails, as during a restart of the controller, the page keeps the task it has.
  if (error && task === undefined) return <FailedPage error={error} />;
  if (task === undefined) return <Skeleton height={400} />;
  return <TaskView task={task} runId={Number(params.runId ?? 0)} />;
};

const useStatus = (task: Task) =>
  useQuery({
    queryKey: ['tasks', 'status', task.id],
    queryFn: async () => (await client.tasks.status({ params: { id: task.id } })).data,
    refetchInterval: ({ state }) => (isActive(state.data?.status ?? task.status) ? pollMs : idlePollMs),
  }).data;

type Status = NonNullable<ReturnType<typeof useStatus>>;

const TaskView = ({ task, runId: given }: { task: Task; runId: number }) => {
  const { id } = task;
  useDocumentTitle(text.app.titleOf(nameOf(task)));
  const { text: read, set } = usePageSearch();
  const status = useStatus(task);
  const now = status?.status ?? task.status;
  const newest = status?.runId ?? task.lastRunId;
  const runId = given > 0 ? given : newest;
  const isLive = runId === newest && isActive(now);
  const error = status?.error || task.error;
  const panels = {
    run:
      runId === null ? (
        <Stack>
          <TaskTopology task={task} />
          <Text c="dimmed">{words.neverRan}</Text>
        </Stack>
      ) : (
        <RunPanel key={runId} task={task} runId={runId} status={now} isCurrent={runId === newest} />
      ),
    runs: <TaskRuns id={id} />,
    events: runId !== null && <RunEvents key={runId} id={id} runId={runId} />,
    logs: runId !== null && <RunLogs id={id} runId={runId} isActive={isLive} />,
    definition: <DefinitionPanel task={task} />,
  };
  const tabs = Object.keys(panels) as (keyof typeof panels)[];
  const tab = tabs.find((name) => name === read('tab')) ?? 'run';
  // The tab answers at once; a page of charts follows.
  const shown = useDeferredValue(tab);
  return (
    <Stack>
      <Heading task={task} status={status} now={now} />
      {status && isActive(now) && <RunProgress status={status} />}
      {error && isTerminal(now) && (
        <Alert color="red" variant="default" role="alert">
          {error}
        </Alert>
      )}
      <Tabs value={tab} onChange={(next) => set({ tab: next ?? undefined, page: undefined })} keepMounted={false}>
        <Tabs.List>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {words[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((name) => (
          <Tabs.Panel key={name} value={name} pt="md">
            {name === shown && panels[name]}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
};

const nameOf = ({ comment, id }: Task) => comment || `#${id}`;

const healthNames: Record<string, string> = { degraded: run.degraded, recovering: run.recovering };

const Heading = ({ task, status, now }: { task: Task; status: Status | undefined; now: number }) => (
  <Group justify="space-between">
    <div>
      <Group gap="sm">
        <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
          {nameOf(task)}
        </Title>
        <TaskBadge value={now} />
        {status && healthNames[status.health] !== undefined && isActive(now) && (
          <Badge color="yellow" variant="dot" tt="none">
            {healthNames[status.health]}
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
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <RunControls task={task} status={now} />
      <TaskMenu task={task} isActive={isActive(now)} />
    </Group>
  </Group>
);

const RunProgress = ({ status }: { status: Status }) => {
  const { progress, elapsedSec, remainingSec, phase, queuePosition } = status;
  const parts = [
    clock(elapsedSec),
    ...(remainingSec === null ? [] : [run.left(clock(remainingSec))]),
    ...(phase === '' ? [] : [run.phases[phase]]),
    ...(queuePosition === undefined ? [] : [run.queued(queuePosition)]),
  ];
  return (
    <Group gap="sm" wrap="nowrap">
      <Progress value={progress * 100} style={{ flex: 1 }} aria-label={run.progress} color="orange" />
      <Text size="sm" className="numbers">
        {parts.join(' · ')}
      </Text>
    </Group>
  );
};
