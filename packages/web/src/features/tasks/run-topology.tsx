import { Card, Group, Text } from '@mantine/core';
import { entriesOf, type RunAgent, type Task } from '@rushhour/contract';
import { IconArrowNarrowLeft, IconArrowNarrowRight, IconRouter, IconServer2 } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';
import { scaled } from '../../lib/units.ts';
import { type Current, shownValue, useCurrentValues, useRunAgents } from './run-agents.tsx';
import { deviceDetailsOf } from './run-device.ts';
import classes from './run-topology.module.css';

const { topology: words } = text;

interface RunTopologyProps {
  task: Task;
  runId: number;
  /** Labels of the run, which name the device under test. */
  labels: Readonly<Record<string, string>>;
  isActive: boolean;
}

/** Who talks to whom: client agents, the device under test, server agents, and the rates between them. */
export const RunTopology = ({ task, runId, labels, isActive }: RunTopologyProps) => {
  const agents = useRunAgents(task.id, runId, isActive);
  const current = useCurrentValues(task.id, runId, isActive);
  const networks = useNetworkNames(task);
  if (agents.length === 0) return null;
  const isServer = ({ role }: RunAgent) => role === 'server';
  const clients = agents.filter((agent) => !isServer(agent));
  const servers = agents.filter(isServer);
  const rate = (of: readonly RunAgent[], metric: string) =>
    of.reduce(
      (sum, agent) => sum + (shownValue({ agent, current: current[agent.id] as Current | undefined }, metric) ?? 0),
      0,
    );
  return (
    <Card withBorder padding="xs" component="section" aria-label={words.title}>
      <div className={classes['strip']}>
        <Side title={words.clients} agents={clients} networks={networks.sources} />
        <Arrow forth={rate(clients, 'txBps')} back={rate(clients, 'rxBps')} />
        <Box icon={<IconRouter size={20} aria-hidden />} title={words.device}>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {labels['device'] === undefined ? words.direct : <DeviceLink name={labels['device']} />}
          </Text>
          <Text size="xs" c="dimmed">
            {deviceDetailsOf(labels)}
          </Text>
        </Box>
        {servers.length > 0 && (
          <>
            <Arrow forth={rate(servers, 'rxBps')} back={rate(servers, 'txBps')} />
            <Side title={words.servers} agents={servers} networks={networks.targets} />
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
  agents: readonly RunAgent[];
  networks: readonly string[];
}

const maxNamed = 4;

const Side = ({ title, agents, networks }: SideProps) => (
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
    {networks.length > 0 && (
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {networks.join(', ')}
      </Text>
    )}
  </Box>
);

/** Rates in both directions, as far as they are known. */
const Arrow = ({ forth, back }: { forth: number; back: number }) => (
  <div className={`${classes['arrow']} numbers`}>
    <span>
      {forth > 0 && scaled(forth, 'bit/s')} <IconArrowNarrowRight size={16} aria-hidden />
    </span>
    <span>
      <IconArrowNarrowLeft size={16} aria-hidden /> {back > 0 && scaled(back, 'bit/s')}
    </span>
  </div>
);

type Ends = 'sources' | 'targets';

const networkIdsOf = ({ configuration }: Task, ends: Ends): number[] => [
  ...new Set(
    entriesOf(configuration).flatMap(({ values }) =>
      (((values as Record<string, unknown>)?.[ends] ?? []) as { network?: { id?: number } }[]).flatMap(
        ({ network }) => network?.id ?? [],
      ),
    ),
  ),
];

/** Names and subnets of the networks on both sides. */
const useNetworkNames = (task: Task): Record<Ends, string[]> => {
  const may = useMay();
  const ids = { sources: networkIdsOf(task, 'sources'), targets: networkIdsOf(task, 'targets') };
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
