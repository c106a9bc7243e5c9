import type { Run } from '@rushhour/contract';
import { clockNow } from '../../clock.ts';
import type { Executor } from '../../store/engine/database.ts';
import { agentsOfRuns, statusEventsOf } from '../../store/runs/run-history.ts';
import type { runs } from '../../store/runs/runs.ts';
import { elapsedSecOf } from './task-status.ts';

export type FoundRun = NonNullable<Awaited<ReturnType<typeof runs.find>>>;

const starterOf = ({ startedBy, starterEmail, starterName }: FoundRun): Run['startedBy'] =>
  startedBy === null || starterEmail === null
    ? null
    : { id: startedBy, email: starterEmail, realName: starterName ?? '' };

/** Runs in their public form, with their agents and status history. */
export const readRuns = async (read: Executor, found: readonly FoundRun[]): Promise<Run[]> => {
  const ids = found.map(({ id }) => id);
  const [agents, history] = await Promise.all([agentsOfRuns(read, ids), statusEventsOf(read, ids)]);
  return found.map((run) => ({
    id: run.id,
    taskID: run.taskID,
    number: run.number,
    status: run.status,
    statusHistory: history
      .filter(({ runID }) => runID === run.id)
      .map(({ ts, source, data }) => ({ status: Number(data['status']), at: ts, by: source })),
    stopReason: run.stopReason as Run['stopReason'],
    verdict: run.verdict,
    validity: run.validity,
    health: run.health as Run['health'],
    comment: run.comment,
    labels: run.labels,
    startedBy: starterOf(run),
    queuedAt: run.queuedAt,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    durationSec: run.t0 === null ? null : elapsedSecOf(run, clockNow()),
    agents: agents
      .filter(({ runID }) => runID === run.id)
      .map(({ agentID, name, role, state, error }) => ({ id: agentID, name, role, state, error })),
    definitionHash: run.definitionHash,
    pinned: run.pinned,
    expiresAt: run.expiresAt,
    error: run.error,
  }));
};
