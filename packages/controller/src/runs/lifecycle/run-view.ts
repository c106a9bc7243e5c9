import type { Executor } from '../../store/engine/database.ts';
import { type RunAgentRecord, runAgentsOf } from '../../store/runs/run-agents.ts';
import { type RunJob, type RunRecord, runs } from '../../store/runs/runs.ts';

/** A run and its agents as stored: the only input of decisions. */
export interface RunView {
  readonly run: RunRecord;
  readonly agents: readonly RunAgentRecord[];
}

export const readView = async (read: Executor, runId: number): Promise<RunView | undefined> => {
  const run = await runs.find(read, runId);
  return run && { run, agents: await runAgentsOf(read, runId) };
};

/** The index of each agent of a list, which keeps its agents where they are. */
const indexes = new WeakMap<RunView['agents'], ReadonlyMap<number, number>>();

export const indexOfAgent = ({ agents }: Pick<RunView, 'agents'>, agentId: number): number | undefined => {
  const known = indexes.get(agents) ?? new Map(agents.map(({ agentID }, index) => [agentID, index]));
  indexes.set(agents, known);
  return known.get(agentId);
};

/** Thousands of agents report at once: each is found without looking at the others. */
export const agentIn = (view: Pick<RunView, 'agents'>, agentId: number): RunAgentRecord | undefined => {
  const index = indexOfAgent(view, agentId);
  return index === undefined ? undefined : view.agents[index];
};

/** The states of an agent in a run, in their usual order. */
export type AgentState = 'preparing' | 'prepared' | 'armed' | 'running' | 'paused' | 'ended' | 'failed' | 'lost';

const isOver: Partial<Record<string, true>> = { ended: true, failed: true, lost: true };

/** Nothing more is expected of the agent. */
export const isDone = ({ state }: RunAgentRecord) => isOver[state] === true;

/** The agent has sent traffic since the common start, or never will. */
export const hasBegun = ({ state }: RunAgentRecord) =>
  state === 'running' || state === 'paused' || isOver[state] === true;

/** The agent left the run although it was needed. */
export const isGone = ({ state, orders }: RunAgentRecord) =>
  state === 'lost' || state === 'failed' || orders.some(({ outcome }) => outcome?.status === 'failed');

interface LocatedJob {
  agent: RunAgentRecord;
  job: RunJob;
  index: number;
}

export const jobsOf = ({ agents }: RunView): LocatedJob[] =>
  agents.flatMap((agent) => agent.orders.map((job, index) => ({ agent, job, index })));

/** The jobs that determine the length of a run: its clients, or all jobs without clients. */
const leadingJobs = (view: RunView) => {
  const all = jobsOf(view);
  const clients = all.filter(({ job }) => job.role === 'client');
  return clients.length > 0 ? clients : all;
};

const isOpen = ({ agent, job }: LocatedJob) => job.outcome === null && !isDone(agent);

export const hasOpenClients = (view: RunView) =>
  jobsOf(view).some((placed) => placed.job.role === 'client' && isOpen(placed));

export const haveClientsEnded = (view: RunView) => {
  const jobs = leadingJobs(view);
  return jobs.length > 0 && !jobs.some(isOpen);
};

/** No agent that generates load is left. */
export const areAllClientsGone = (view: RunView) => leadingJobs(view).every(({ agent }) => isGone(agent));
