import { clockNow } from '../../clock.ts';
import type { PlannedJob, RunPlan } from '../../plan/core/agent-plan.ts';
import type { PlannedAttempts } from '../../plan/core/attempt-files.ts';
import { setRunAgents } from '../../store/runs/run-agents.ts';
import { type RunAttempts, setRunAttempts } from '../../store/runs/run-attempts.ts';
import { appendEvent } from '../../store/runs/run-events.ts';
import { lockQueue } from '../../store/runs/run-leases.ts';
import { type AgentForRun, agentsForRuns, countStarted } from '../../store/runs/run-queue.ts';
import type { RunJob } from '../../store/runs/runs.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { prepareDeadline } from './deadlines.ts';
import type { RunWriter } from './run-writer.ts';

const jobOf = ({ job, planeEntry, ...planned }: PlannedJob): RunJob => {
  const { entry, pluginId, role, engine, target, share, canPause, canChangeLoad } = planned;
  return {
    ...{ entry, pluginId, role, engine, target, share, canPause, canChangeLoad },
    startAfterSec: job.startAfterSec ?? 0,
    ...(planeEntry !== undefined && { planeEntry }),
    load: null,
    outcome: null,
  };
};

/** With the jobs that use them, so that reports can be joined again. */
const storedAttempts =
  ({ agents }: RunPlan) =>
  ({ sha256, text, policy }: PlannedAttempts): RunAttempts => ({
    ...{ sha256, text, policy },
    orders: agents.flatMap(({ agentId, jobs }) =>
      jobs.flatMap(({ job }, index): RunAttempts['orders'] => {
        const { attempts } = job.config as { attempts?: { $file?: string } };
        return attempts?.$file === sha256 ? [[agentId, index, job.startAfterSec ?? 0]] : [];
      }),
    ),
  });

interface Deps {
  writer: RunWriter;
  settings: Pick<SettingsStore, 'current'>;
}

/** The agents or the number of runs changed after the queue was checked. */
export class AgentsNotAvailable extends Error {}

/**
 * Takes a run out of the queue and assigns its agents; the prepare commands follow the commit.
 * `areFree` checks the agents inside the transaction.
 */
export const createRunStart =
  ({ writer, settings }: Deps) =>
  (runId: number, plan: RunPlan, areFree: (agents: ReadonlyMap<number, AgentForRun>) => boolean) => {
    const fileBytes = plan.agents.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
    const rowsOf = (agents: ReadonlyMap<number, AgentForRun>) =>
      plan.agents.map(({ agentId, role, jobs }) => ({
        agentID: agentId,
        name: agents.get(agentId)?.name ?? '',
        role,
        state: 'preparing',
        bootId: agents.get(agentId)?.bootId ?? '',
        orders: jobs.map(jobOf),
        error: '',
      }));
    const patch = {
      deadlineAt: prepareDeadline(settings.current().tasks, clockNow(), fileBytes),
      plannedSec: plan.plannedSec === null ? null : Math.ceil(plan.plannedSec),
      health: 'ok',
      validity: { valid: true, reasons: [...plan.notes] },
    };
    return writer.move(runId, { trigger: 'begin', source: 'controller', patch }, async (tx) => {
      await lockQueue(tx);
      if ((await countStarted(tx)) > settings.current().tasks.maxConcurrent) throw new AgentsNotAvailable();
      const agents = await agentsForRuns(
        tx,
        plan.agents.map(({ agentId }) => agentId),
      );
      if (!areFree(agents)) throw new AgentsNotAvailable();
      await setRunAgents(tx, runId, rowsOf(agents));
      await setRunAttempts(tx, runId, plan.attempts.map(storedAttempts(plan)));
      for (const message of plan.notes) await appendEvent(tx, runId, { type: 'note', source: 'controller', message });
    });
  };

export type StartRun = ReturnType<typeof createRunStart>;
