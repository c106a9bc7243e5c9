import { Badge, SimpleGrid, Stack, Text } from '@mantine/core';
import { plugins } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { TaskBadge } from '../../components/badges.tsx';
import { DataTable, FactTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { TaskLink } from '../../components/task-link.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { bytes, scaled } from '../../lib/units.ts';
import { AgentHistory } from './agent-history.tsx';

const { agents: words } = text;
const megabyte = 2 ** 20;

/** Health, tests, interfaces, log and capabilities of an agent, and its last hours. */
export const AgentDetails = ({ id }: { id: number }) => (
  <Stack>
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack>
        <Health id={id} />
        <Tests id={id} />
        <Interfaces id={id} />
        <Logs id={id} />
      </Stack>
      <Capabilities id={id} />
    </SimpleGrid>
    <AgentHistory id={id} />
  </Stack>
);

const Note = ({ children }: { children: string }) => (
  <Text size="xs" c="dimmed">
    {children}
  </Text>
);

const titles = new Map<string, string>(plugins.map(({ name, title }) => [name, title]));

const Capabilities = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['agents', 'capabilities', id],
    queryFn: async () => (await client.agents.capabilities({ params: { id } })).data,
  });
  return (
    <Section title={words.capabilities}>
      <DataTable
        label={words.capabilities}
        rows={data ? [...data.plugins, data.stack] : []}
        keyOf={({ name }) => name}
        columns={[
          { cell: ({ name }) => titles.get(name) ?? name },
          {
            cell: ({ available }) => (
              <Badge color={available ? 'teal' : 'gray'} variant="dot" tt="none">
                {available ? words.available : words.missing}
              </Badge>
            ),
          },
          { cell: ({ available, reason }) => <Note>{available ? '' : reason}</Note> },
        ]}
      />
    </Section>
  );
};

const Health = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['agents', 'health', id],
    queryFn: async () => (await client.agents.metrics({ params: { id } })).data.latest,
    refetchInterval: 3000,
  });
  if (!data) return null;
  return (
    <Section title={words.health}>
      <FactTable
        facts={[
          [words.cpu, data.cpuPct.map((value) => `${Math.round(value)} %`).join(' · ')],
          [words.memory, bytes(data.memoryUsedMb * megabyte)],
          [words.load, data.load1.toFixed(2)],
          [words.disk, bytes(data.diskFreeMb * megabyte)],
          ...data.interfaces.map(
            ({ name, rxBps, txBps }) => [name, `↓ ${scaled(rxBps, 'bit/s')}  ↑ ${scaled(txBps, 'bit/s')}`] as const,
          ),
        ]}
      />
    </Section>
  );
};

/** The newest tests that name the agent. */
const Tests = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['tasks', 'list', 'agent', id],
    queryFn: async () =>
      (await client.tasks.list({ query: { agentID: id, count: 5, key: 'updatedAt', order: 'desc' } })).data,
  });
  return (
    <Section title={words.tasks}>
      {data?.length === 0 && <Note>{words.noTasks}</Note>}
      {data !== undefined && data.length > 0 && (
        <DataTable
          label={words.tasks}
          rows={data}
          keyOf={(task) => task.id}
          columns={[
            { isLong: true, cell: (task) => <TaskLink task={task} /> },
            { cell: ({ status }) => <TaskBadge value={status} /> },
            { cell: ({ updatedAt }) => <TimeText at={updatedAt} /> },
          ]}
        />
      )}
    </Section>
  );
};

const Interfaces = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['agents', 'interfaces', id],
    queryFn: async () => (await client.agents.interfaces({ params: { id } })).data,
  });
  return (
    <Section title={words.interfaces}>
      <DataTable
        label={words.interfaces}
        rows={data ?? []}
        keyOf={(one) => one.id}
        columns={[
          { cell: ({ name }) => name },
          { cell: ({ link }) => link },
          { cell: ({ mac }) => mac },
          { cell: ({ ips }) => ips.map((ip) => <div key={ip}>{ip}</div>) },
          { cell: ({ usable, reason }) => <Note>{usable ? '' : reason}</Note> },
        ]}
      />
    </Section>
  );
};

const maxLines = 50;

/** The newest log lines of an agent. */
const Logs = ({ id }: { id: number }) => {
  const { data } = useQuery({
    queryKey: ['agents', 'logs', id],
    queryFn: async () => (await client.agents.logs({ params: { id }, query: { count: maxLines } })).data,
    refetchInterval: 5000,
  });
  return (
    <Section title={words.logs}>
      {data?.length === 0 && <Note>{words.noLogs}</Note>}
      {data !== undefined && data.length > 0 && (
        <DataTable
          label={words.logs}
          rows={data}
          columns={[
            { width: 130, cell: ({ ts }) => <TimeText at={ts} /> },
            { width: 60, cell: ({ level }) => level },
            { isLong: true, cell: ({ source, message }) => `${source}: ${message}` },
          ]}
        />
      )}
    </Section>
  );
};
