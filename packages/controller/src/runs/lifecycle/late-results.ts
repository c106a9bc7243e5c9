import type { HeldRun, RunReport } from '@rushhour/protocol';
import { clockNow } from '../../clock.ts';
import type { CommandSender } from '../commands/command-sender.ts';
import type { RunMetrics } from '../verdict/run-metrics.ts';
import { agentIn, type RunView } from './run-view.ts';
import type { RunWriter } from './run-writer.ts';

interface Deps {
  writer: RunWriter;
  commands: CommandSender;
  metrics: RunMetrics;
  lateMs: number;
}

interface Late {
  runId: number;
  epoch: number;
  agentId: number;
  until: number;
}

const createLateResultContext = (deps: Deps) => {
  const pending = new Map<string, Late>();
  return { ...deps, pending };
};
type LateResultContext = ReturnType<typeof createLateResultContext>;

const settle = async ({ metrics, writer, commands }: LateResultContext, { runId, epoch, agentId }: Late) => {
  const entries = await metrics.summaryOf(runId);
  await writer.edit(runId, ({ run }) => ({
    patch: { summary: { ...run.summary, entries } },
    events: [{ type: 'lateResults', agentID: agentId, source: 'agent', message: 'results arrived after the end' }],
  }));
  commands.forget(agentId, { runId, epoch });
};

/** An agent still holds a run that has ended. */
const meetAgent =
  ({ commands, writer, pending, lateMs }: LateResultContext) =>
  async (agentId: number, held: HeldRun, view: RunView | undefined) => {
    const agent = view && agentIn(view, agentId);
    const isOurs = view !== undefined && agent !== undefined && held.epoch === view.run.epoch;
    if (!isOurs || held.state !== 'ended') {
      commands.abandon(agentId, held, 'the run is over');
      return;
    }
    await writer.edit(held.runId, () => ({
      agents: [
        {
          ...agent,
          orders: agent.orders.map((job, i) => ({ ...job, outcome: held.orders[i]?.outcome ?? job.outcome })),
        },
      ],
    }));
    const { runId, epoch } = held;
    pending.set(`${agentId} ${runId}`, { runId, epoch, agentId, until: clockNow() + lateMs });
  };

/** Late results: agents that return with results of an ended run hand them in, then discard them. */
export const createLateResults = (deps: Deps) => {
  const context = createLateResultContext(deps);
  const { pending, commands, metrics } = context;

  return {
    meet: meetAgent(context),

    /** Handles a report about an ended run; only expected results are accepted. */
    report: (agentId: number, report: RunReport) => {
      if (!pending.has(`${agentId} ${report.runId}`)) commands.abandon(agentId, report, 'the run is over');
    },

    /** A reset would destroy results that have not arrived yet. */
    isAwaitedFrom: (agentId: number) => [...pending.values()].some((late) => late.agentId === agentId),

    look: async () => {
      for (const [key, late] of pending) {
        if (!(await metrics.missingSeconds(late.runId)).has(late.agentId)) await settle(context, late);
        else if (clockNow() < late.until) continue;
        else commands.abandon(late.agentId, late, 'its results did not arrive in time');
        pending.delete(key);
      }
    },

    lose: (agentId: number) => {
      for (const [key, late] of pending) if (late.agentId === agentId) pending.delete(key);
    },
  };
};

export type LateResults = ReturnType<typeof createLateResults>;
