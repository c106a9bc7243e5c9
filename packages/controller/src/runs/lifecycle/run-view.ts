import type { Executor } from '../../store/engine/database.ts';
import { type RunAgentRecord, runAgentsOf } from '../../store/runs/run-agents.ts';
import { type RunOrder, type RunRecord, runs } from '../../store/runs/runs.ts';

/** A run and its agents as stored: the only input of decisions. */
export interface RunView {
  readonly run: RunRecord;
  readonly agents: readonly RunAgentRecord[];
}

export const readView = async (read: Executor, runId: number): Promise<RunView | undefined> => {
  const run = await runs.find(read, runId);
  return run && { run, agents: await runAgentsOf(read, runId) };
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
  order: RunOrder;
  index: number;
}

export const ordersOf = ({ agents }: RunView): LocatedJob[] =>
  agents.flatMap((agent) => agent.orders.map((order, index) => ({ agent, order, index })));

/** The jobs that determine the length of a run: its clients, or all jobs without clients. */
const leadingOrders = (view: RunView) => {
  const all = ordersOf(view);
  const clients = all.filter(({ order }) => order.role === 'client');
  return clients.length > 0 ? clients : all;
};

const isOpen = ({ agent, order }: LocatedJob) => order.outcome === null && !isDone(agent);

export const hasOpenClients = (view: RunView) =>
  ordersOf(view).some((placed) => placed.order.role === 'client' && isOpen(placed));

export const haveClientsEnded = (view: RunView) => {
  const orders = leadingOrders(view);
  return orders.length > 0 && !orders.some(isOpen);
};

/** No agent that generates load is left. */
export const areAllClientsGone = (view: RunView) => leadingOrders(view).every(({ agent }) => isGone(agent));
