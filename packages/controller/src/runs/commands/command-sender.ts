import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import type { RunLeases } from '../lifecycle/run-leases.ts';
import type { RunView } from '../lifecycle/run-view.ts';
import { commandsOf } from './commands.ts';

/** Sends agents the commands that follow from the state of their runs, once per session. */
export const createCommandSender = (gateway: AgentGateway, leases: Pick<RunLeases, 'owns'>) => {
  /** By agent: the last version sent of each key. */
  const sent = new Map<number, Map<string, string>>();

  const sentTo = (agentId: number) => {
    const known = sent.get(agentId) ?? new Map<string, string>();
    sent.set(agentId, known);
    return known;
  };
  const forgetRun = (agentId: number, runId: number) => {
    const known = sentTo(agentId);
    for (const slot of known.keys()) if (slot.startsWith(`${runId} `)) known.delete(slot);
  };

  return {
    /** Call it after the commit: sent commands cannot be recalled. An owner that was held up sends none. */
    deliver: (view: RunView, plan: RunPlan | undefined) => {
      if (!leases.owns(view.run.id)) return;
      for (const { agentId, key, version = '', command } of commandsOf(view, plan)) {
        const known = sentTo(agentId);
        const slot = `${command.runId} ${command.epoch} ${key}`;
        if (known.get(slot) !== version && gateway.send(agentId, command)) known.set(slot, version);
      }
    },

    /** Commands may have been lost with the connection: they are sent again in the new session. */
    forgetSession: (agentId: number) => void sent.delete(agentId),

    /** The run has ended: agents that reported everything may discard it, the others must abort. */
    dismiss: ({ run, agents }: RunView, areSamplesComplete: boolean) => {
      const of = { runId: run.id, epoch: run.epoch };
      const reason = `the run has ended: ${run.stopReason || run.error}`;
      for (const { agentID, state } of agents) {
        const hasReportedAll = state === 'ended' && areSamplesComplete;
        gateway.send(agentID, hasReportedAll ? { type: 'forget', ...of } : { type: 'abandon', ...of, reason });
        forgetRun(agentID, run.id);
      }
    },

    forget: (agentId: number, { runId, epoch }: { runId: number; epoch: number }) =>
      gateway.send(agentId, { type: 'forget', runId, epoch }),

    abandon: (agentId: number, { runId, epoch }: { runId: number; epoch: number }, reason: string) =>
      gateway.send(agentId, { type: 'abandon', runId, epoch, reason }),
  };
};

export type CommandSender = ReturnType<typeof createCommandSender>;
