import type { MetricValue, RunAgent, RunTableRow } from '@rushhour/contract';
import type { Metrics } from '../../metrics/metrics.ts';
import { agents as agentTable } from '../../store/agents/agents.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import type { RunRow } from '../../store/runs/run-rows.ts';

const sumOf = (metrics: readonly MetricValue[], isWanted: (name: string) => boolean) => {
  const found = metrics.filter(({ metric }) => isWanted(metric));
  return found.length === 0 ? null : found.reduce((sum, { sum: own }) => sum + (own ?? 0), 0);
};

const saturationOf = (jobs: RunAgentRecord['orders']) => {
  const all: Record<string, number> = {};
  for (const { outcome } of jobs) {
    for (const [reason, seconds] of Object.entries(outcome?.saturatedSeconds ?? {})) {
      all[reason] = Math.max(all[reason] ?? 0, seconds);
    }
  }
  return all;
};

const versionOf = async (read: Executor, agentId: number, engines: readonly string[]) => {
  const agent = await agentTable.find(read, agentId);
  const versions = (agent?.engines ?? [])
    .filter(({ engine }) => engines.includes(engine))
    .map(({ version }) => version);
  return [...new Set(versions)].join(', ');
};

/** The contribution of one agent to a run. */
export const readRunAgent = async (
  { read, metrics }: { read: Executor; metrics: Pick<Metrics, 'totalsOf'> },
  { runID, agentID, name, role, state, orders, error }: RunAgentRecord,
): Promise<RunAgent> => {
  const engines = [...new Set(orders.map(({ engine }) => engine))];
  const totals = await metrics.totalsOf(runID, { agentId: agentID });
  const isDrop = (metric: string) => metric === 'agentDrops' || metric.endsWith('.bufferDrops');
  return {
    id: agentID,
    name,
    role,
    state,
    engines,
    engineVersion: await versionOf(read, agentID, engines),
    cpuMaxPct: totals.find(({ metric }) => metric === 'agentCpuPct')?.max ?? null,
    drops: sumOf(totals, isDrop),
    errors: sumOf(totals, (metric) => metric === 'errors') ?? 0,
    notes: [...new Set(orders.flatMap(({ outcome }) => outcome?.notes ?? []))],
    saturatedSeconds: saturationOf(orders),
    metrics: totals,
    error,
  };
};

/** A row of a table as clients read it. */
export const tableRowOf = ({ tableName, agentID, orderIndex, rowIndex, state, cells }: RunRow): RunTableRow => ({
  table: tableName,
  agentID,
  job: orderIndex,
  index: rowIndex,
  state,
  cells,
});
