import { Card, Group, Text } from '@mantine/core';
import type { RunAgent, Task } from '@rushhour/contract';
import { IconArrowNarrowLeft, IconArrowNarrowRight, IconRouter, IconServer2 } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { RecordName } from '../../../../components/record-name.tsx';
import { client } from '../../../../lib/client.ts';
import { useMay } from '../../../../lib/session.ts';
import { text } from '../../../../lib/text.ts';
import { scaled } from '../../../../lib/units.ts';
import { type Current, shownValue, useCurrentValues, useRunAgents } from '../tables/run-agents.tsx';
import { deviceDetailsOf, labelsOf } from './run-device.ts';
import classes from './run-topology.module.css';
import { addressesOf, type Ends, idsOf, tunnelIdsOf } from './topology-ends.ts';

const { topology: words } = text;

type Labels = Readonly<Record<string, string>>;
type NamedAgent = Pick<RunAgent, 'id' | 'name'>;

interface RunTopologyProps {
  task: Task;
  runId: number;
  /** Labels of the run, which name the device under test. */
  labels: Labels;
  isActive: boolean;
}

/** Who talks to whom in a run, with the rates between them. */
export const RunTopology = ({ task, runId, labels, isActive }: RunTopologyProps) => {
  const agents = useRunAgents(task.id, runId, isActive);
  const current = useCurrentValues(task.id, runId, isActive);
  const isServer = ({ role }: RunAgent) => role === 'server';
  const clients = agents.filter((agent) => !isServer(agent));
  const servers = agents.filter(isServer);
  const rate = (of: readonly RunAgent[], metric: string) =>
    of.reduce(
      (sum, agent) => sum + (shownValue({ agent, current: current[agent.id] as Current | undefined }, metric) ?? 0),
      0,
    );
  const near = { forth: rate(clients, 'txBps'), back: rate(clients, 'rxBps') };
  const far = { forth: rate(servers, 'rxBps'), back: rate(servers, 'txBps') };
  return <Strip {...{ task, clients, servers, near, far, labels }} />;
};

/** Who will talk to whom: the same of a task that has not run yet. */
export const TaskTopology = ({ task }: { task: Task }) => {
  const clients = useAgents(idsOf(task, 'sources', 'agent'));
  const servers = useAgents(idsOf(task, 'targets', 'agent'));
  const none = { forth: 0, back: 0 };
  return <Strip {...{ task, clients, servers, near: none, far: none, labels: labelsOf(task) }} />;
};

interface Rates {
  readonly forth: number;
  readonly back: number;
}

interface StripProps {
  task: Task;
  clients: readonly NamedAgent[];
  servers: readonly NamedAgent[];
  /** Between the clients and the device. */
  near: Rates;
  /** Between the device and the servers. */
  far: Rates;
  labels: Labels;
}

/** Client agents, the device under test, server agents. */
const Strip = ({ task, clients, servers, near, far, labels }: StripProps) => {
  const networks = useNetworkNames(task);
  if (clients.length + servers.length === 0) return null;
  return (
    <Card withBorder padding="xs" component="section" aria-label={words.title}>
      <div className={classes['strip']}>
        <Side title={words.clients} agents={clients} ends={[...networks.sources, ...addressesOf(task, 'sources')]} />
        <Arrow {...near} />
        <Box icon={<IconRouter size={20} aria-hidden />} title={words.device}>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {labels['device'] === undefined ? words.direct : <DeviceLink name={labels['device']} />}
          </Text>
          <Text size="xs" c="dimmed">
            {deviceDetailsOf(labels)}
          </Text>
          <Tunnels ids={tunnelIdsOf(task)} />
        </Box>
        {servers.length > 0 && (
          <>
            <Arrow {...far} />
            <Side
              title={words.servers}
              agents={servers}
              ends={[...networks.targets, ...addressesOf(task, 'targets')]}
            />
          </>
        )}
      </div>
    </Card>
  );
};

const DeviceLink = ({ name }: { name: string }) => (
  <Link to="/devices" search={{ device: name }}>
    {name}
  </Link>
);

interface BoxProps {
  icon: ReactNode;
  title: string;
  children: ReactNode;
}

const Box = ({ icon, title, children }: BoxProps) => (
  <div className={classes['box']}>
    <Group gap={6} wrap="nowrap">
      {icon}
      <Text size="xs" c="dimmed">
        {title}
      </Text>
    </Group>
    {children}
  </div>
);

interface SideProps {
  title: string;
  agents: readonly NamedAgent[];
  /** Networks and addresses. */
  ends: readonly string[];
}

const maxNamed = 4;

/** The first of many, and how many more there are. */
const firstOf = (names: readonly string[]) =>
  [...names.slice(0, maxNamed), ...(names.length > maxNamed ? [`+${names.length - maxNamed}`] : [])].join(', ');

const Side = ({ title, agents, ends }: SideProps) => (
  <Box icon={<IconServer2 size={20} aria-hidden />} title={title}>
    <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
      {agents.slice(0, maxNamed).map(({ id, name }, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <Link to="/resources/$name/$id" params={{ name: 'agents', id: String(id) }}>
            {name}
          </Link>
        </span>
      ))}
      {agents.length > maxNamed && ` +${agents.length - maxNamed}`}
    </Text>
    {ends.length > 0 && (
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {firstOf(ends)}
      </Text>
    )}
  </Box>
);

/** The tunnels in which traffic passes the device. */
const Tunnels = ({ ids }: { ids: readonly number[] }) =>
  ids.length > 0 && (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {words.tunnels}:{' '}
      {ids.slice(0, maxNamed).map((id, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <RecordName name="tunnels" id={id} />
        </span>
      ))}
      {ids.length > maxNamed && ` +${ids.length - maxNamed}`}
    </Text>
  );

/** Rates in both directions, as far as they are known. */
const Arrow = ({ forth, back }: Rates) => (
  <div className={`${classes['arrow']} numbers`}>
    <span>
      {forth > 0 && scaled(forth, 'bit/s')} <IconArrowNarrowRight size={16} aria-hidden />
    </span>
    <span>
      <IconArrowNarrowLeft size={16} aria-hidden /> {back > 0 && scaled(back, 'bit/s')}
    </span>
  </div>
);

/** Agents that are meant; names are read for as many as are named. */
const useAgents = (ids: readonly number[]): readonly NamedAgent[] => {
  const may = useMay();
  const found = useQueries({
    queries: ids.slice(0, maxNamed).map((id) => ({
      queryKey: ['agents', 'item', id],
      queryFn: async () => (await client.agents.get({ params: { id } })).data as NamedAgent,
      enabled: may('agents', 'get'),
      retry: false,
      staleTime: 60_000,
    })),
  });
  return ids.map((id, i) => ({ id, name: found[i]?.data?.name ?? `#${id}` }));
};

/** Names and subnets of the networks on both sides. */
const useNetworkNames = (task: Task): Record<Ends, string[]> => {
  const may = useMay();
  const ids = { sources: idsOf(task, 'sources', 'network'), targets: idsOf(task, 'targets', 'network') };
  const all = [...new Set([...ids.sources, ...ids.targets])];
  const found = useQueries({
    queries: all.map((id) => ({
      queryKey: ['networks', 'item', id],
      queryFn: async () => (await client.networks.get({ params: { id } })).data as { name: string; subnet?: string },
      enabled: may('networks', 'get'),
      retry: false,
      staleTime: 60_000,
    })),
  });
  const nameOf = (id: number) => {
    const { data } = found[all.indexOf(id)] ?? {};
    return data === undefined ? `#${id}` : [data.name, data.subnet ?? ''].join(' ').trim();
  };
  return { sources: ids.sources.map(nameOf), targets: ids.targets.map(nameOf) };
};
