import { isActive, runStatus } from '@rushhour/contract';
import type { HeldRun, RunReport } from '@rushhour/protocol';
import type { AgentGateway, AgentListener, Arrival } from '../../agents/gateway/gateway.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { NewRunEvent } from '../../store/runs/run-events.ts';
import type { ActiveRunCache } from '../lifecycle/active-run-cache.ts';
import type { Changes } from '../lifecycle/changes.ts';
import type { LateResults } from '../lifecycle/late-results.ts';
import { reconcileReturningAgent } from '../lifecycle/returning-agent.ts';
import type { RunLeases } from '../lifecycle/run-leases.ts';
import { agentIn, isDone, type RunView, readView } from '../lifecycle/run-view.ts';
import type { RunWriter } from '../lifecycle/run-writer.ts';
import { applyReport, noteLostAgent, withReason } from '../verdict/apply-report.ts';
import { createRunNotes } from '../verdict/run-notes.ts';
import type { CommandSender } from './command-sender.ts';

interface Deps {
  read: Executor;
  writer: RunWriter;
  commands: CommandSender;
  activeRuns: ActiveRunCache;
  late: LateResults;
  gateway: Pick<AgentGateway, 'isHere'>;
  leases: Pick<RunLeases, 'owns'>;
  post(runId: number, work: () => Promise<unknown>): Promise<void>;
  /** Queues another look at the run. */
  wake(runId: number): void;
}

const eventOf = (type: string, severity: 'info' | 'warning', agentID: number, message: string): NewRunEvent => ({
  ...{ type, severity, agentID, message },
  source: 'controller',
});

/** Applies the return of an agent to a run. */
const arrivalAt = (view: RunView, agentId: number, bootId: string, held: HeldRun | undefined): Changes => {
  const before = agentIn(view, agentId);
  if (before === undefined) return {};
  const { agent, lostBecause, wasDeadMan } = reconcileReturningAgent(view.run, before, { bootId, held });
  if (lostBecause !== undefined) return noteLostAgent(view, agent, lostBecause);
  const message = `${agent.name} is back`;
  return {
    agents: [agent],
    events: [eventOf('agentBack', 'info', agentId, message)],
    ...(wasDeadMan && {
      patch: { validity: withReason(view.run.validity, `${agent.name} ended by itself: the controller was silent`) },
    }),
  };
};

const createAgentEventContext = (deps: Deps) => {
  const { writer, post, wake } = deps;
  const notes = createRunNotes({ writer, post, wake });
  return { ...deps, notes };
};
type AgentEventContext = ReturnType<typeof createAgentEventContext>;

const isOver = (view: RunView | undefined) => view === undefined || !isActive(view.run.status);

const meet = (context: AgentEventContext, runId: number, agentId: number, { bootId, runs }: Arrival) => {
  const { post, late, read, activeRuns, commands, notes, gateway, leases } = context;
  const view = activeRuns.find(runId);
  const held = runs.find((candidate) => candidate.runId === runId);
  const meetLate = () => {
    if (held === undefined) return;
    void post(runId, async () => {
      const now = await readView(read, runId);
      // A run that is over is the business of the controller which the agent is connected to, any other of its owner.
      // While it is taken over nothing is said: its agents connect again afterwards.
      const isOurs = isOver(now) ? gateway.isHere(agentId) : view !== undefined && leases.owns(runId);
      if (isOurs) await late.meet(agentId, held, now);
    });
  };
  if (view === undefined || agentIn(view, agentId) === undefined) {
    meetLate();
    return;
  }
  const isPresent = held?.epoch === view.run.epoch;
  if (held && !isPresent) commands.abandon(agentId, held, 'the run was given away');
  activeRuns.hasReturned(runId, agentId);
  const decide = (now: RunView) => arrivalAt(now, agentId, bootId, isPresent ? held : undefined);
  notes.add(runId, { decide, onOver: meetLate });
};

const noteInRuns = (
  { activeRuns, notes }: AgentEventContext,
  agentId: number,
  event: (name: string) => NewRunEvent,
) => {
  for (const runId of activeRuns.runsOf(agentId)) {
    const decide = (view: RunView) => {
      const agent = agentIn(view, agentId);
      return agent === undefined || isDone(agent) ? {} : { events: [event(agent.name)] };
    };
    notes.add(runId, { decide });
  }
};

const hearLate = async (context: AgentEventContext, agentId: number, report: RunReport) => {
  const isOurs = context.gateway.isHere(agentId) && isOver(await readView(context.read, report.runId));
  if (isOurs) context.late.report(agentId, report);
};

const hear = (context: AgentEventContext, agentId: number, report: RunReport) => {
  const { activeRuns, post, commands, notes } = context;
  const view = activeRuns.find(report.runId);
  if (view === undefined) return void post(report.runId, () => hearLate(context, agentId, report));
  if (report.epoch !== view.run.epoch || agentIn(view, agentId) === undefined) {
    return void commands.abandon(agentId, report, 'the run was given away');
  }
  // Samples are ingested elsewhere; here they only show that traffic has started.
  if (report.type === 'summaries' && view.run.status !== runStatus.armed) return;
  const decide = (now: RunView) => (now.run.epoch === report.epoch ? applyReport(now, agentId, report) : {});
  notes.add(report.runId, { decide });
};

/** Handles agent events for runs. */
export const createAgentEventHandler = (deps: Deps): AgentListener => {
  const context = createAgentEventContext(deps);
  const { commands, activeRuns, late, notes } = context;

  return {
    connected: (agentId, arrival) => {
      commands.forgetSession(agentId);
      if (!context.gateway.isHere(agentId)) late.lose(agentId);
      activeRuns.suspects.delete(agentId);
      const concerned = new Set([...activeRuns.runsOf(agentId), ...arrival.runs.map(({ runId }) => runId)]);
      for (const runId of concerned) meet(context, runId, agentId, arrival);
    },
    suspect: (agentId) => {
      activeRuns.suspects.add(agentId);
      noteInRuns(context, agentId, (name) => eventOf('agentSuspect', 'warning', agentId, `${name} is silent`));
    },
    back: (agentId) => {
      activeRuns.suspects.delete(agentId);
      noteInRuns(context, agentId, (name) => eventOf('agentBack', 'info', agentId, `${name} is heard again`));
    },
    lost: (agentId, reason) => {
      activeRuns.suspects.delete(agentId);
      late.lose(agentId);
      for (const runId of activeRuns.runsOf(agentId)) {
        const decide = (view: RunView) => {
          const agent = agentIn(view, agentId);
          return agent === undefined || isDone(agent) ? {} : noteLostAgent(view, agent, reason);
        };
        notes.add(runId, { decide });
      }
    },
    report: (agentId: number, report: RunReport) => hear(context, agentId, report),
  };
};
