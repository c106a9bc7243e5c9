import { setImmediate as nextIteration } from 'node:timers/promises';
import type { MetricValue, RunAgent, RunTableRow } from '@rushhour/contract';
import type { Metrics } from '../../metrics/metrics.ts';
import { agents as agentTable } from '../../store/agents/agents.ts';
import type { Executor } from '../../store/engine/database.ts';
import { type RunAgentRecord, runAgentsOf } from '../../store/runs/run-agents.ts';
import type { RunRow, ShownTable } from '../../store/runs/run-rows.ts';

type AgentRow = NonNullable<Awaited<ReturnType<typeof agentTable.find>>>;

const sumOf = (metrics: readonly MetricValue[], isWanted: (name: string) => boolean) => {
  const found = metrics.filter(({ metric }) => isWanted(metric));
  return found.length === 0 ? null : found.reduce((sum, { sum: own }) => sum + (own ?? 0), 0);
};

const saturationOf = (jobs: RunAgentRecord['orders']) => {
  // Agents name the reasons, so that one may be called like a member of every object.
  const all = new Map<string, number>();
  for (const { outcome } of jobs) {
    for (const [reason, seconds] of Object.entries(outcome?.saturatedSeconds ?? {})) {
      all.set(reason, Math.max(all.get(reason) ?? 0, seconds));
    }
  }
  return Object.fromEntries(all);
};

const versionOf = (agent: AgentRow | undefined, engines: readonly string[]) => {
  const versions = (agent?.engines ?? [])
    .filter(({ engine }) => engines.includes(engine))
    .map(({ version }) => version);
  return [...new Set(versions)].join(', ');
};

const runAgentOf = (
  { agentID, name, role, state, orders, error }: RunAgentRecord,
  agent: AgentRow | undefined,
  totals: MetricValue[],
): RunAgent => {
  const engines = [...new Set(orders.map(({ engine }) => engine))];
  const isDrop = (metric: string) => metric === 'agentDrops' || metric.endsWith('.bufferDrops');
  return {
    id: agentID,
    name,
    role,
    state,
    engines,
    engineVersion: versionOf(agent, engines),
    cpuMaxPct: totals.find(({ metric }) => metric === 'agentCpuPct')?.max ?? null,
    drops: sumOf(totals, isDrop),
    errors: sumOf(totals, (metric) => metric === 'errors') ?? 0,
    notes: [...new Set(orders.flatMap(({ outcome }) => outcome?.notes ?? []))],
    saturatedSeconds: saturationOf(orders),
    metrics: totals,
    error,
  };
};

/** The contribution of one agent to a run. */
export const readRunAgent = async (
  { read, metrics }: { read: Executor; metrics: Pick<Metrics, 'totalsOf'> },
  record: RunAgentRecord,
): Promise<RunAgent> => {
  const { runID, agentID } = record;
  const totals = await metrics.totalsOf(runID, { agentId: agentID });
  return runAgentOf(record, await agentTable.find(read, agentID), totals);
};

/** Reading so many takes milliseconds; others are answered in between. */
const agentsAtOnce = 100;

/** The contributions of all agents of a run, read together. */
export const readRunAgents = async (
  { read, metrics }: { read: Executor; metrics: Pick<Metrics, 'totalsByAgent'> },
  runId: number,
): Promise<RunAgent[]> => {
  const records = await runAgentsOf(read, runId);
  const agents = new Map<number, AgentRow>();
  for (let at = 0; at < records.length; at += agentsAtOnce) {
    const ids = records.slice(at, at + agentsAtOnce).map(({ agentID }) => agentID);
    for (const agent of await agentTable.findMany(read, ids)) agents.set(agent.id, agent);
    await nextIteration();
  }
  const totals = await metrics.totalsByAgent(runId);
  return records.map((record) => runAgentOf(record, agents.get(record.agentID), totals.get(record.agentID) ?? []));
};

/** A session that is up reports no row while nothing changes: its uptime is that until `readMs`. */
const currentCells = (cells: RunTableRow['cells'], readMs: number): RunTableRow['cells'] => {
  const { upSince } = cells;
  if (typeof upSince !== 'string' || !Number.isFinite(Date.parse(upSince))) return cells;
  const uptimeMs = Math.max(readMs - Date.parse(upSince), 0);
  return { ...cells, uptimeSec: Math.round(uptimeMs / 100) / 10 };
};

/** How rows of a run are read: those of a run that has ended as they were at its end. */
export const tableRowsOf = (rows: readonly RunRow[], run: { readonly finishedAt: string | null }): RunTableRow[] => {
  const readMs = run.finishedAt === null ? Date.now() : Date.parse(run.finishedAt);
  return rows.map(({ tableName, agentID, orderIndex, rowIndex, state, cells }) => ({
    table: tableName as ShownTable,
    agentID,
    job: orderIndex,
    index: rowIndex,
    state,
    cells: currentCells(cells, readMs),
  }));
};
