import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { clockNow } from '../../clock.ts';
import { putRunAgents } from '../../store/runs/run-agents.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { armedDeadline, commonStart, runningDeadline, stopDeadline, type Timing } from './deadlines.ts';
import type { Step } from './next-step.ts';
import type { RunEnding } from './run-ending.ts';
import type { RunView } from './run-view.ts';
import type { RunWriter } from './run-writer.ts';

interface Deps {
  gateway: Pick<AgentGateway, 'roundTripMs'>;
  settings: Pick<SettingsStore, 'current'>;
  writer: RunWriter;
  ending: RunEnding;
  timing: Timing;
}

type Stop = Pick<Extract<Step, { kind: 'stop' }>, 'endStatus' | 'reason' | 'error'>;

/** Executes decisions. Each is one transaction; commands go to the agents afterwards. */
export const createSteps = ({ gateway, settings, writer, ending, timing }: Deps) => {
  const arm = ({ run, agents }: RunView) => {
    const roundTrips = agents.map(({ agentID }) => gateway.roundTripMs(agentID) ?? 0);
    const t0 = commonStart(clockNow(), roundTrips, timing);
    const patch = { t0, deadlineAt: armedDeadline(t0, agents.length, timing) };
    return writer.move(run.id, { trigger: 'arm', source: 'controller', patch }, (tx) =>
      putRunAgents(
        tx,
        agents.map((agent) => ({ ...agent, state: 'armed' })),
      ),
    );
  };

  const run = ({ run }: RunView) => {
    const startedAt = new Date(run.t0 ?? clockNow()).toISOString();
    const patch = { startedAt, deadlineAt: runningDeadline(run, timing) };
    return writer.move(run.id, { trigger: 'run', source: 'controller', patch });
  };

  const stop = ({ run }: RunView, { endStatus, reason, error }: Stop) => {
    const deadlineAt = stopDeadline(settings.current().tasks, clockNow());
    const patch = { endStatus, stopReason: reason, error, stopMode: 'graceful', deadlineAt };
    const move = { trigger: 'stop', source: 'controller', patch, message: error || reason } as const;
    // Reaching the planned end is no user action.
    return reason === 'duration' ? writer.move(run.id, move) : writer.moveAudited('runs.stop', run.id, move);
  };

  return {
    stop,
    perform: async (view: RunView, step: Step, areSamplesComplete: boolean) => {
      switch (step.kind) {
        case 'arm':
          return arm(view);
        case 'run':
          return run(view);
        case 'stop':
          return stop(view, step);
        case 'fail':
          return ending.fail(view, step.reason, step.error);
        case 'end':
          return ending.finish(view, step.problems, areSamplesComplete);
      }
    },
  };
};

export type Steps = ReturnType<typeof createSteps>;
