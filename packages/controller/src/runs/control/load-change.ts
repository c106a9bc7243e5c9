import type { LoadChange } from '@rushhour/contract';
import type { LoadChange as OrderLoad } from '@rushhour/protocol';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import { jobsOf, type RunView } from '../lifecycle/run-view.ts';

const rates = ['requestsPerSecond', 'packetsPerSecond', 'sessionsPerSecond', 'concurrentSessions'] as const;
const fixed = ['ppsPerConnection', 'initialTps'] as const;
const suiteId = 21;

/** Searches change the number of sessions, too. */
type AnyChange = LoadChange & { readonly concurrentSessions?: number };

export interface LoadOutcome {
  readonly accepted: LoadChange[];
  readonly rejected: { index: number; reason: string }[];
  /** The agents of the run with their new loads. */
  readonly agents: RunAgentRecord[];
}

interface Entry {
  plugin?: { id?: number };
  values?: Record<string, unknown>;
}

/** Stages and goals stand for a rate that need not be given. */
const hasOtherLoad = ({ values }: Entry) => {
  const { stages = [], goal } = (values?.['duration'] ?? {}) as { stages?: readonly unknown[]; goal?: unknown };
  return goal !== undefined || stages.length > 0;
};

const refusalOf = (view: RunView, change: AnyChange): string | undefined => {
  const entry = view.run.definition.configuration[change.index] as Entry | undefined;
  if (entry === undefined) return 'there is no such entry';
  const asked = rates.filter((rate) => change[rate] !== undefined);
  const stuck = fixed.find((member) => change[member] !== undefined);
  if (stuck) return `${stuck} cannot be changed while the task runs`;
  if (asked.length === 0) return 'says no new load';
  if (entry.plugin?.id === suiteId) return 'the load of a suite cannot be changed';
  const jobs = jobsOf(view).filter(({ job }) => job.entry === change.index && job.role === 'client');
  if (jobs.length === 0) return 'the entry makes no load';
  if (!jobs.every(({ job }) => job.canChangeLoad)) return 'the load of this plugin cannot be changed';
  const unknown = hasOtherLoad(entry) ? undefined : asked.find((rate) => typeof entry.values?.[rate] !== 'number');
  if (unknown) return `the entry has no ${unknown}`;
  return jobs.every(({ job }) => job.outcome !== null) ? 'the entry has ended' : undefined;
};

const shareOf = (change: AnyChange, share: number): OrderLoad =>
  Object.fromEntries(
    rates.flatMap((rate) => {
      const total = change[rate];
      return total === undefined ? [] : [[rate, total * share]];
    }),
  );

/** Divides new rates over the agents like the first ones; reports what cannot be applied and why. */
export const changeLoads = (view: RunView, changes: readonly AnyChange[]): LoadOutcome => {
  const outcome: LoadOutcome = { accepted: [], rejected: [], agents: view.agents.map((agent) => ({ ...agent })) };
  for (const change of changes) {
    const reason = refusalOf(view, change);
    if (reason !== undefined) {
      outcome.rejected.push({ index: change.index, reason });
      continue;
    }
    outcome.accepted.push(change);
    for (const agent of outcome.agents) {
      agent.orders = agent.orders.map((job) =>
        job.entry === change.index && job.role === 'client'
          ? { ...job, load: { ...job.load, ...shareOf(change, job.share) } }
          : job,
      );
    }
  }
  return outcome;
};
