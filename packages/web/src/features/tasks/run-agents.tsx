import { Badge, Card, Progress, Table, Text, Title } from '@mantine/core';
import type { MetricValue, RunAgent } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { scaled } from '../../lib/units.ts';

const { run } = text;
const pollMs = 2000;
const most = 100;
const metrics = ['agentCpuPct', 'achievedLoad', 'errors', 'txBps', 'rxBps', 'scheduleLagMs'];
const busyPct = 85;
const stateColors: Record<string, string> = { running: 'orange', finished: 'teal', lost: 'red', failed: 'red' };

interface RunAgentsProps {
  id: number;
  runId: number;
  isActive: boolean;
}

type Now = Record<string, number | null>;

/** How each agent of a run fares: as it is now, or over the whole run once it has ended. */
export const RunAgents = ({ id, runId, isActive }: RunAgentsProps) => {
  const { data: agents = [] } = useQuery({
    queryKey: ['tasks', 'run agents', runId],
    queryFn: async () => (await client.tasks.runAgents({ params: { id, runId }, query: { count: most } })).data,
    refetchInterval: isActive ? pollMs : false,
  });
  const { data: now = {} } = useQuery({
    queryKey: ['tasks', 'agents now', runId],
    queryFn: () => readNow(id),
    enabled: isActive,
    refetchInterval: pollMs,
  });
  if (agents.length === 0) return null;
  return (
    <Card withBorder padding="sm">
      <Title order={3} size="h5" mb="xs">
        {run.agents}
      </Title>
      <Table.ScrollContainer minWidth={640}>
        <Table className="numbers" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              {run.agentColumns.map((name, i) => (
                <Table.Th key={name} ta={i < 3 ? 'left' : 'right'}>
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {agents.map((agent) => (
              <AgentRow key={agent.id} agent={agent} now={isActive ? now[agent.id] : undefined} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
};

const readNow = async (id: number): Promise<Record<number, Now>> => {
  const { data } = await client.tasks.metrics({ params: { id }, query: { by: 'agent', metrics: metrics.join(',') } });
  return Object.fromEntries(
    data.values.map(({ labels, metrics: values }) => [Number(labels['agentID']), nowOf(values)]),
  );
};

const nowOf = (values: readonly MetricValue[]): Now =>
  Object.fromEntries(
    values.map(({ metric, type, rate, last }) => [metric, (type === 'counter' ? rate : last) ?? null]),
  );

const averageOf = ({ metrics: values }: RunAgent, name: string) => {
  const found = values.find(({ metric }) => metric === name);
  return (found?.type === 'counter' ? found.rate : found?.avg) ?? null;
};

const AgentRow = ({ agent, now }: { agent: RunAgent; now: Now | undefined }) => {
  const of = (name: string) => (now === undefined ? averageOf(agent, name) : (now[name] ?? null));
  const cpu = now === undefined ? agent.cpuMaxPct : (now['agentCpuPct'] ?? null);
  const saturated = Object.values(agent.saturatedSeconds).reduce((most, seconds) => Math.max(most, seconds), 0);
  const remarks = [
    ...(agent.error === '' ? [] : [agent.error]),
    ...(saturated > 0 ? [run.saturated(saturated)] : []),
    ...agent.notes,
  ];
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/resources/$name/$id" params={{ name: 'agents', id: String(agent.id) }}>
          {agent.name}
        </Link>
        {remarks.map((remark) => (
          <Text key={remark} size="xs" c="orange">
            {remark}
          </Text>
        ))}
      </Table.Td>
      <Table.Td>{agent.role}</Table.Td>
      <Table.Td>
        <Badge variant="dot" tt="none" color={stateColors[agent.state] ?? 'gray'}>
          {agent.state}
        </Badge>
      </Table.Td>
      <Table.Td ta="right" miw={90}>
        {cpu === null ? '–' : `${Math.round(cpu)} %`}
        {cpu !== null && (
          <Progress
            size={4}
            value={Math.min(cpu, 100)}
            color={cpu > busyPct ? 'red' : 'teal'}
            aria-label={`${run.cpu} ${agent.name}`}
          />
        )}
      </Table.Td>
      <Table.Td ta="right">{scaled(of('achievedLoad'), '/s')}</Table.Td>
      <Table.Td ta="right">{scaled(of('txBps'), 'bit/s')}</Table.Td>
      <Table.Td ta="right">{scaled(of('rxBps'), 'bit/s')}</Table.Td>
      <Table.Td ta="right">{scaled(of('errors'), '/s')}</Table.Td>
    </Table.Tr>
  );
};
