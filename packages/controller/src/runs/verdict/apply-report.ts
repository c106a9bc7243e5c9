import { runStatus } from '@rushhour/contract';
import { isInstant, type RunReport } from '@rushhour/protocol';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import type { RunValidity } from '../../store/runs/runs.ts';
import { reactionTo } from '../commands/loss-policy.ts';
import type { Changes } from '../lifecycle/changes.ts';
import { agentIn, type RunView } from '../lifecycle/run-view.ts';

type ReportOf<Type extends RunReport['type']> = Extract<RunReport, { type: Type }>;

/** Agents whose jobs all start later than this need not send traffic at the common start. */
const lateStartSec = 5;

export const withReason = ({ reasons }: RunValidity, reason: string): RunValidity => ({
  valid: false,
  reasons: [...new Set([...reasons, reason])],
});

const changed = (agent: RunAgentRecord, members: Partial<RunAgentRecord>): Changes => ({
  agents: [{ ...agent, ...members }],
});

/** The run continues without one of its agents: its result is not valid. */
const doubtOf = ({ run, agents }: RunView, agent: RunAgentRecord, reason: string) => {
  const isWeighed =
    run.status === runStatus.armed || run.status === runStatus.running || run.status === runStatus.paused;
  const after = { run, agents: agents.map((other) => (other.agentID === agent.agentID ? agent : other)) };
  const isKept = isWeighed && reactionTo(after, agent.agentID) === 'continue';
  return isKept || run.status === runStatus.stopping ? { patch: { validity: withReason(run.validity, reason) } } : {};
};

/** Marks an agent as lost; it gets no new work before the run ends. */
export const noteLostAgent = (view: RunView, before: RunAgentRecord, reason: string): Changes => {
  if (before.state === 'lost') return changed(before, {});
  const agent = { ...before, state: 'lost', error: reason };
  return {
    agents: [agent],
    events: [
      {
        type: 'agentLost',
        severity: 'error',
        agentID: agent.agentID,
        source: 'controller',
        message: `${agent.name}: ${reason}`,
      },
    ],
    toReset: [agent.agentID],
    ...doubtOf(view, agent, `${agent.name} was lost: ${reason}`),
  };
};

const takeEnd = (view: RunView, agent: RunAgentRecord, { endedByDeadMan }: ReportOf<'ended'>): Changes => {
  const why = 'the agent ended by itself: the controller was silent';
  if (!endedByDeadMan) return changed(agent, { state: 'ended' });
  if (view.run.status !== runStatus.stopping) return noteLostAgent(view, agent, why);
  return {
    ...changed(agent, { state: 'ended' }),
    patch: { validity: withReason(view.run.validity, `${agent.name}: ${why}`) },
  };
};

const takeJobEnd = (view: RunView, before: RunAgentRecord, { order, outcome }: ReportOf<'orderEnded'>): Changes => {
  const known = before.orders[order];
  if (known === undefined) return {};
  const jobs = before.orders.with(order, { ...known, outcome });
  const agent = { ...before, orders: jobs, state: before.state === 'armed' ? 'running' : before.state };
  if (outcome.status !== 'failed' || known.outcome !== null) return { agents: [agent] };
  const message = `${agent.name}: ${known.engine}: ${outcome.error}`;
  return {
    agents: [agent],
    events: [
      { type: 'engineError', severity: 'error', agentID: agent.agentID, source: 'agent', message, data: { order } },
    ],
    ...doubtOf(view, agent, message),
  };
};

const stateAfter: Record<string, { from: string; to: string }> = {
  paused: { from: 'running', to: 'paused' },
  resumed: { from: 'paused', to: 'running' },
};

/** Agent clocks may be wrong; an unparsable time becomes the current time. */
const timeOf = (at: number) => (isInstant(at) ? { ts: new Date(at).toISOString() } : {});

/** Types of events that only the controller writes: results and histories are read from them. */
const ownTypes = new Set([
  ...['status', 'thresholdBreached', 'agentLost', 'agentSuspect', 'agentBack', 'engineError', 'recovering'],
  ...['lateResults', 'clockStepped', 'note', 'eventsDropped', 'dumpsDropped'],
]);

const takeEvent = (agent: RunAgentRecord, event: ReportOf<'event'>): Changes => {
  const transition = stateAfter[event.kind];
  return {
    agents: transition?.from === agent.state ? [{ ...agent, state: transition.to }] : [],
    events: [
      {
        type: ownTypes.has(event.kind) ? 'agentEvent' : event.kind,
        severity: event.severity,
        agentID: agent.agentID,
        source: 'agent',
        message: event.message,
        ...timeOf(event.at),
        ...(event.order !== undefined && { data: { order: event.order } }),
      },
    ],
  };
};

/** Applies an agent's report to the run. Repeated reports change nothing. */
export const applyReport = (view: RunView, agentId: number, report: RunReport): Changes => {
  const agent = agentIn(view, agentId);
  if (agent === undefined) return {};
  switch (report.type) {
    case 'prepared':
      return agent.state === 'preparing' ? changed(agent, { state: 'prepared' }) : {};
    case 'prepareFailed':
      return changed(agent, { state: 'failed', error: report.problems.map(({ message }) => message).join('; ') });
    case 'started': {
      const isLate = agent.orders.every(({ startAfterSec }) => startAfterSec >= lateStartSec);
      return agent.state === 'armed' && isLate ? changed(agent, { state: 'running' }) : {};
    }
    case 'summaries':
      return agent.state === 'armed' ? changed(agent, { state: 'running' }) : {};
    case 'event':
      return takeEvent(agent, report);
    case 'orderEnded':
      return takeJobEnd(view, agent, report);
    case 'ended':
      return agent.state === 'ended' ? {} : takeEnd(view, agent, report);
  }
};
