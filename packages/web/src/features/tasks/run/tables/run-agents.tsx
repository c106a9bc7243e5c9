import { Badge, Progress, Text } from '@mantine/core';
import type { MetricValue, RunAgent } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { Section } from '../../../../components/page.tsx';
import { client } from '../../../../lib/client.ts';
import { text } from '../../../../lib/text.ts';
import { scaled } from '../../../../lib/units.ts';
import { Remarks } from '../remarks.tsx';

const { run, runAgents: words } = text;
const { agentColumns: headers } = run;
const pollMs = 2000;
const maxRows = 100;
const metrics = ['agentCpuPct', 'achievedLoad', 'errors', 'txBps', 'rxBps', 'scheduleLagMs'];
const busyPct = 85;
const stateColors: Readonly<Record<string, string>> = { running: 'orange', ended: 'teal', lost: 'red', failed: 'red' };
const roles: Readonly<Record<string, string>> = words.roles;
const states: Readonly<Record<string, string>> = words.states;

interface RunAgentsProps {
  id: number;
  runId: number;
  isActive: boolean;
}

export type Current = Record<string, number | null>;
const none: readonly RunAgent[] = [];
interface Row {
  agent: RunAgent;
  /** Current values while the run is active; otherwise the averages of the run are shown. */
  current: Current | undefined;
}

/** The agents of a run. */
export const useRunAgents = (id: number, runId: number, isActive: boolean): readonly RunAgent[] =>
  useQuery({
    queryKey: ['tasks', 'run agents', runId],
    queryFn: async () => {
      const { data } = await client.tasks.runAgents({ params: { id, runId }, query: { count: maxRows } });
      return data as RunAgent[];
    },
    refetchInterval: isActive ? pollMs : false,
  }).data ?? none;

/** Newest values by agent; empty unless the run is active. */
export const useCurrentValues = (id: number, runId: number, isActive: boolean): Readonly<Record<number, Current>> => {
  const { data } = useQuery({
    queryKey: ['tasks', 'agents now', runId],
    queryFn: () => readCurrent(id),
    enabled: isActive,
    refetchInterval: pollMs,
  });
  return (isActive && data) || {};
};

/** Status and load of each agent of a run. */
export const RunAgents = ({ id, runId, isActive }: RunAgentsProps) => {
  const agents = useRunAgents(id, runId, isActive);
  const current = useCurrentValues(id, runId, isActive);
  if (agents.length === 0) return null;
  const rows = agents.map((agent) => ({ agent, current: current[agent.id] }));
  return (
    <Section title={run.agents} order={3}>
      <DataTable columns={columns} rows={rows} keyOf={({ agent }) => agent.id} minWidth={640} />
    </Section>
  );
};

const readCurrent = async (id: number): Promise<Record<number, Current>> => {
  const { data } = await client.tasks.metrics({ params: { id }, query: { by: 'agent', metrics: metrics.join(',') } });
  return Object.fromEntries(
    data.values.map(({ labels, metrics: values }) => [Number(labels['agentID']), currentOf(values)]),
  );
};

const currentOf = (values: readonly MetricValue[]): Current =>
  Object.fromEntries(
    values.map(({ metric, type, rate, last }) => [metric, (type === 'counter' ? rate : last) ?? null]),
  );

const averageOf = ({ metrics: values }: RunAgent, name: string) => {
  const found = values.find(({ metric }) => metric === name);
  return (found?.type === 'counter' ? found.rate : found?.avg) ?? null;
};

/** The newest value of an active run, or the average of a finished one. */
export const shownValue = ({ agent, current }: Row, name: string) =>
  current === undefined ? averageOf(agent, name) : (current[name] ?? null);

const remarksOf = ({ error, saturatedSeconds, notes }: RunAgent) => {
  const saturated = Math.max(0, ...Object.values(saturatedSeconds));
  return [...(error === '' ? [] : [error]), ...(saturated > 0 ? [run.saturated(saturated)] : []), ...notes];
};

const CpuUsage = ({ agent, current }: Row) => {
  const cpu = current === undefined ? agent.cpuMaxPct : (current['agentCpuPct'] ?? null);
  if (cpu === null) return '–';
  return (
    <>
      {Math.round(cpu)} %
      <Progress
        size={4}
        value={Math.min(cpu, 100)}
        color={cpu > busyPct ? 'red' : 'teal'}
        aria-label={`${run.cpu} ${agent.name}`}
      />
    </>
  );
};

const rate = (header: string, metric: string, unit: string): DataColumn<Row> => ({
  header,
  align: 'right',
  cell: (row) => scaled(shownValue(row, metric), unit),
});

const columns: readonly DataColumn<Row>[] = [
  {
    header: headers.agent,
    cell: ({ agent }) => (
      <>
        <Link to="/resources/$name/$id" params={{ name: 'agents', id: String(agent.id) }}>
          {agent.name}
        </Link>
        <Remarks remarks={remarksOf(agent)} />
      </>
    ),
  },
  { header: headers.role, cell: ({ agent }) => <Text size="sm">{roles[agent.role] ?? agent.role}</Text> },
  {
    header: headers.status,
    cell: ({ agent: { state } }) => (
      <Badge variant="dot" tt="none" color={stateColors[state] ?? 'gray'}>
        {states[state] ?? state}
      </Badge>
    ),
  },
  { header: headers.cpu, align: 'right', width: 90, cell: (row) => <CpuUsage {...row} /> },
  rate(run.load, 'achievedLoad', '/s'),
  rate(run.sent, 'txBps', 'bit/s'),
  rate(run.received, 'rxBps', 'bit/s'),
  rate(run.errors, 'errors', '/s'),
];
