import { runStatus } from '@rushhour/contract';
import type { HeldRun } from '@rushhour/protocol';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import type { RunJob, RunRecord } from '../../store/runs/runs.ts';
import type { AgentState } from './run-view.ts';

/** The new state of a returning agent in the run, and the reason if it counts as lost. */
export interface ReturnAction {
  readonly agent: RunAgentRecord;
  readonly lostBecause?: string;
  /** The agent stopped because the controller was unreachable. */
  readonly wasDeadMan?: boolean;
}

const withOutcomes = (jobs: readonly RunJob[], held: HeldRun | undefined): RunJob[] =>
  jobs.map((job, index) => ({ ...job, outcome: held?.orders[index]?.outcome ?? job.outcome }));

const stateOf = (held: HeldRun, before: string): string => {
  // The agent may have missed the start command; it is sent again.
  if (held.state === 'prepared' && before === 'armed') return before;
  return held.state satisfies AgentState;
};

/** Decides what a returning agent means for an active run. */
export const reconcileReturningAgent = (
  run: RunRecord,
  before: RunAgentRecord,
  { bootId, held }: { bootId: string; held: HeldRun | undefined },
): ReturnAction => {
  const isStopping = run.status === runStatus.stopping;
  const agent = { ...before, orders: withOutcomes(before.orders, held) };
  const isWhole = held?.state === 'ended' && agent.orders.every(({ outcome }) => outcome !== null);
  if (before.state === 'ended' || before.state === 'failed') return { agent };
  if (isStopping && isWhole) {
    return { agent: { ...agent, state: 'ended' }, ...(held?.endedByDeadMan && { wasDeadMan: true }) };
  }
  if (bootId !== before.bootId) return { agent, lostBecause: 'the agent was restarted' };
  if (held === undefined) return reconcileUnawareAgent(run, agent);
  if (held.endedByDeadMan) return { agent, lostBecause: 'the agent ended by itself: the controller was silent' };
  return { agent: { ...agent, state: stateOf(held, before.state), error: '' } };
};

/** The agent does not know the run: the commands were lost, or it discarded the run. */
const reconcileUnawareAgent = (run: RunRecord, agent: RunAgentRecord): ReturnAction => {
  if (run.status === runStatus.preparing) return { agent: { ...agent, state: 'preparing' } };
  const hasStarted = agent.state !== 'preparing' && agent.state !== 'prepared';
  if (run.status === runStatus.stopping && !hasStarted) return { agent: { ...agent, state: 'ended' } };
  return { agent, lostBecause: 'the agent no longer knows the run' };
};
