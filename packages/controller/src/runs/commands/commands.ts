import { runStatus } from '@rushhour/contract';
import type { RunCommand } from '@rushhour/protocol';
import type { AgentPlan, RunPlan } from '../../plan/core/agent-plan.ts';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import type { RunRecord } from '../../store/runs/runs.ts';
import { hasOpenClients, isDone, type RunView } from '../lifecycle/run-view.ts';

/** A command that follows from the state of a run. The same key and version is the same command and is sent once. */
export interface DueCommand {
  readonly key: string;
  /** For commands that may change and change back. */
  readonly version?: string;
  readonly command: RunCommand;
}

/** Shared by all agents of a run, computed once. */
interface Situation {
  readonly run: RunRecord;
  readonly areClientsOpen: boolean;
}

const ofRun = ({ id, epoch }: RunRecord) => ({ runId: id, epoch });

const prepare = (run: RunRecord, { jobs, files, capture }: AgentPlan): DueCommand => ({
  key: 'prepare',
  command: {
    type: 'prepare',
    ...ofRun(run),
    orders: jobs.map(({ job }) => ({ ...job, ...ofRun(run) })),
    files: [...files],
    ...(capture && { capture }),
  },
});

const loads = (run: RunRecord, { orders }: RunAgentRecord): DueCommand[] =>
  orders.flatMap(({ load, outcome }, jobIndex) =>
    load === null || outcome !== null
      ? []
      : [
          {
            key: `load ${jobIndex}`,
            version: JSON.stringify(load),
            command: { type: 'changeLoad', ...ofRun(run), order: jobIndex, change: load },
          },
        ],
  );

const planeCommands = (run: RunRecord, { orders }: RunAgentRecord): DueCommand[] =>
  orders.flatMap(({ commands = [], outcome }, jobIndex) =>
    outcome !== null
      ? []
      : commands.map((command, index) => ({
          key: `command ${jobIndex} ${index}`,
          command: { type: 'command', ...ofRun(run), order: jobIndex, number: index + 1, command },
        })),
  );

/** The current capture, if it was changed. */
const captures = (run: RunRecord): DueCommand[] =>
  run.capture.wish === undefined
    ? []
    : [
        {
          key: 'capture',
          version: String(run.capture.revision),
          command: { type: 'capture', ...ofRun(run), capture: run.capture.wish },
        },
      ];

/** Servers run until the last client has ended, except on abort. */
const stop = ({ run, areClientsOpen }: Situation, agent: RunAgentRecord): DueCommand[] => {
  const mode = run.stopMode === 'abort' ? 'abort' : 'graceful';
  if (mode === 'abort' || !areClientsOpen) {
    return [{ key: `stop ${mode}`, command: { type: 'stop', ...ofRun(run), mode } }];
  }
  const jobIndexes = agent.orders.flatMap(({ role, outcome }, index) =>
    role === 'client' && outcome === null ? [index] : [],
  );
  return jobIndexes.length === 0
    ? []
    : [{ key: 'stop clients', command: { type: 'stop', ...ofRun(run), mode, orders: jobIndexes } }];
};

const commandsFor = (situation: Situation, agent: RunAgentRecord, plan: AgentPlan | undefined): DueCommand[] => {
  const { run } = situation;
  switch (run.status) {
    case runStatus.preparing:
      return agent.state === 'preparing' && plan !== undefined ? [prepare(run, plan)] : [];
    case runStatus.armed:
      return [{ key: 'start', command: { type: 'start', ...ofRun(run), at: run.t0 ?? 0 } }];
    case runStatus.running: {
      const resume: DueCommand = { key: `resume ${run.pausedMs}`, command: { type: 'resume', ...ofRun(run) } };
      const changes = [...loads(run, agent), ...captures(run), ...planeCommands(run, agent)];
      return run.pausedMs > 0 ? [resume, ...changes] : changes;
    }
    case runStatus.paused:
      return [
        { key: `pause ${run.pausedAt}`, command: { type: 'pause', ...ofRun(run) } },
        ...loads(run, agent),
        ...captures(run),
      ];
    case runStatus.stopping:
      return stop(situation, agent);
    default:
      return [];
  }
};

/** All commands that follow from the state of the run. Commands are idempotent. */
export const commandsOf = (view: RunView, plan: RunPlan | undefined): (DueCommand & { agentId: number })[] => {
  const situation = { run: view.run, areClientsOpen: hasOpenClients(view) };
  const plans = new Map(plan?.agents.map((agent) => [agent.agentId, agent]));
  return view.agents
    .filter((agent) => !isDone(agent))
    .flatMap((agent) =>
      commandsFor(situation, agent, plans.get(agent.agentID)).map((due) => ({ ...due, agentId: agent.agentID })),
    );
};
