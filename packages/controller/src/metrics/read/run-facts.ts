import { findPlugin } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { statement } from '../../store/engine/statement.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import { type RunJob, runs } from '../../store/runs/runs.ts';

export type Role = 'client' | 'server';

/** One side of one entry of a configuration: what is measured of it belongs together, whichever agents do it. */
export interface Side {
  /** Its number among the sides of the run, always the same for the same run. */
  readonly group: number;
  readonly entry: number;
  readonly pluginId: number;
  /** Name of the plugin. */
  readonly plugin: string;
  readonly role: Role;
  readonly engine: string;
}

/** What must be known of a run to make sense of its samples. */
export interface RunFacts {
  readonly runId: number;
  readonly taskId: number;
  readonly epoch: number;
  /** Common start, milliseconds since 1970. */
  readonly t0: number;
  readonly agents: ReadonlyMap<number, { readonly name: string; readonly sides: readonly Side[] }>;
  readonly sides: ReadonlyMap<number, Side>;
}

const pluginSpan = 4096;

const sideOf = ({ entry, pluginId, role, engine }: RunJob): Side => ({
  group: (entry * pluginSpan + pluginId) * 2 + (role === 'server' ? 1 : 0),
  entry,
  pluginId,
  plugin: findPlugin(pluginId)?.name ?? engine,
  role,
  engine,
});

/** The side that answers this one, or is answered by it. */
export const otherGroup = (group: number) => (group % 2 === 0 ? group + 1 : group - 1);

/**
 * The second since the common start that most of a span lies in; 1 is the first. Its middle decides: a summary may come
 * late, and the last one of a job is short.
 */
export const secondOf = ({ t0 }: Pick<RunFacts, 't0'>, { at, spanMs }: { at: number; spanMs: number }) =>
  Math.max(1, Math.ceil((at - spanMs / 2 - t0) / 1000));

/** How far the end of a span may be from the second it belongs to. */
export const slackSec = 3;

/** The second that ends at this time, or next to it. */
export const secondAt = ({ t0 }: Pick<RunFacts, 't0'>, at: number) => Math.max(1, Math.round((at - t0) / 1000));

export const timeOf = ({ t0 }: Pick<RunFacts, 't0'>, second: number) => t0 + second * 1000;

const findLimits = statement((db, p: { id: number }) =>
  db.selectFrom('runs').select(['deadlineAt', 'finishedAt']).where('id', '=', p.id),
);

/**
 * `lastMs`: the time of the last sample that a run can have, in milliseconds since 1970: its end, or its deadline, when it
 * is stopped. Infinite while it has neither.
 */
export const readLimits = async (read: Executor, runId: number): Promise<{ lastMs: number; isOver: boolean }> => {
  const run = await findLimits.first(read, { id: runId });
  const last = run?.finishedAt ?? run?.deadlineAt;
  const lastMs = last ? Date.parse(last) + slackSec * 1000 : Number.POSITIVE_INFINITY;
  return { lastMs, isOver: run !== undefined && run.finishedAt !== null };
};

/** Undefined when there is no such run, or when it has not come to a common start. */
export const readRunFacts = async (read: Executor, runId: number): Promise<RunFacts | undefined> => {
  const run = await runs.find(read, runId);
  if (run === undefined || run.t0 === null) return undefined;
  const sides = new Map<number, Side>();
  const agents = new Map<number, { name: string; sides: Side[] }>();
  for (const { agentID, name, orders } of await runAgentsOf(read, runId)) {
    const own = orders.map(sideOf);
    for (const side of own) if (!sides.has(side.group)) sides.set(side.group, side);
    agents.set(agentID, { name, sides: own });
  }
  return { runId, taskId: run.taskID, epoch: run.epoch, t0: run.t0, agents, sides };
};
