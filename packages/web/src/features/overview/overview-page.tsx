import { Anchor, Button, Card, Grid, Group, Progress, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { activeStatuses, isActive } from '@rushhour/contract';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { AgentBadge, TaskBadge, VerdictBadge } from '../../components/badges.tsx';
import { EmptyState } from '../../components/page-states.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';

const { overview } = text;
const refreshMs = 3000;

/** What is running, what failed, which agents are up. */
export const OverviewPage = () => {
  const may = useMay();
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          {text.nav.overview}
        </Title>
        {may('tasks', 'create') && may('tasks', 'start') && (
          <Button leftSection={<IconPlayerPlay size={16} />} renderRoot={(props) => <Link {...props} to="/new" />}>
            {text.nav.newTest}
          </Button>
        )}
      </Group>
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Running />
            <Recent />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Agents />
        </Grid.Col>
      </Grid>
    </Stack>
  );
};

const Panel = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card withBorder>
    <Title order={2} size="h5" mb="sm">
      {title}
    </Title>
    {children}
  </Card>
);

const useTasks = (status: string) =>
  useQuery({
    queryKey: ['tasks', 'list', 'overview', status],
    queryFn: async () => (await client.tasks.list({ query: { status, key: 'updatedAt', count: 8 } })).data,
    refetchInterval: refreshMs,
  });

const Running = () => {
  const { data } = useTasks(activeStatuses.join());
  return (
    <Panel title={overview.running}>
      {data === undefined && <Skeleton height={60} />}
      {data?.length === 0 && <EmptyState title={overview.noneRunning} />}
      <Stack gap="sm">
        {data?.map((task) => (
          <RunningTask key={task.id} task={task} />
        ))}
      </Stack>
    </Panel>
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
      <Group justify="space-between" mb={4}>
        <Anchor renderRoot={(props) => <Link {...props} to={`/tasks/${task.id}`} />}>
          {task.comment || `#${task.id}`}
        </Anchor>
        <Group gap="xs">
          {data?.remainingSec !== null && <Text size="sm">{overview.left(clock(data?.remainingSec))}</Text>}
          <TaskBadge value={data?.status ?? task.status} />
        </Group>
      </Group>
      <Progress value={(data?.progress ?? 0) * 100} aria-label={overview.progress} animated={isActive(task.status)} />
    </div>
  );
};

const Recent = () => {
  const { data } = useTasks('7,8,9');
  return (
    <Panel title={overview.recent}>
      {data?.length === 0 && <EmptyState title={overview.noneFinished} />}
      {data !== undefined && data.length > 0 && (
        <Table verticalSpacing={6}>
          <Table.Tbody>
            {data.map((task) => (
              <Table.Tr key={task.id}>
                <Table.Td>
                  <Anchor renderRoot={(props) => <Link {...props} to={`/tasks/${task.id}`} />}>
                    {task.comment || `#${task.id}`}
                  </Anchor>
                  {task.error !== '' && (
                    <Text size="xs" c="red">
                      {task.error}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <TaskBadge value={task.status} />
                </Table.Td>
                <Table.Td>
                  <VerdictBadge value={task.verdict} />
                </Table.Td>
                <Table.Td>
                  <TimeText at={task.finishedAt} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  );
};

const Agents = () => {
  const { data } = useQuery({
    queryKey: ['agents', 'list', 'overview'],
    queryFn: async () => (await client.agents.list({ query: { count: 12, key: 'name', order: 'asc' } })).data,
    refetchInterval: refreshMs,
  });
  return (
    <Panel title={text.nav.agents}>
      {data?.length === 0 && <EmptyState title={overview.noAgents} />}
      <Stack gap="xs">
        {data?.map((agent) => (
          <Group key={agent.id} justify="space-between" wrap="nowrap">
            <Anchor renderRoot={(props) => <Link {...props} to={`/resources/agents/${agent.id}`} />}>
              {agent.name}
            </Anchor>
            <AgentBadge value={agent.status} />
          </Group>
        ))}
      </Stack>
    </Panel>
  );
};
