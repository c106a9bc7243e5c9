import type { StopReason } from '@rushhour/contract';
import { type EndStatus, runStatus } from '@rushhour/contract';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import { reactionTo } from '../commands/loss-policy.ts';
import type { MissingSeconds } from '../verdict/run-metrics.ts';
import { areAllClientsGone, hasBegun, haveClientsEnded, isDone, isGone, type RunView } from './run-view.ts';

/** The next action on a run. */
export type Step =
  | { readonly kind: 'arm' }
  | { readonly kind: 'run' }
  | { readonly kind: 'stop'; readonly endStatus: EndStatus; readonly reason: StopReason; readonly error: string }
  | { readonly kind: 'fail'; readonly reason: StopReason; readonly error: string }
  /** `problems` qualify the result. */
  | { readonly kind: 'end'; readonly problems: readonly string[] };

export interface DecisionContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Measured seconds that have not arrived; undefined when that is not known. */
  readonly missing: MissingSeconds | undefined;
}

type Decide = (view: RunView, moment: DecisionContext) => Step | undefined;

const maxNames = 5;
const namesOf = (agents: readonly RunAgentRecord[]) => {
  const names = agents.slice(0, maxNames).map(({ name }) => name);
  return `${names.join(', ')}${agents.length > maxNames ? ` and ${agents.length - maxNames} more` : ''}`;
};
const isLate = ({ run }: RunView, { now }: DecisionContext) =>
  run.deadlineAt !== null && Date.parse(run.deadlineAt) <= now;

const whyGone = (agent: RunAgentRecord) => {
  const failed = agent.orders.find(({ outcome }) => outcome?.status === 'failed')?.outcome;
  return `${agent.name}: ${failed?.error || agent.error || agent.state}`;
};
const reasonGone = (agent: RunAgentRecord): StopReason => (agent.state === 'lost' ? 'agentLost' : 'engineError');

const preparing: Decide = (view, moment) => {
  const { agents } = view;
  const gone = agents.find((agent) => isGone(agent) || agent.state === 'ended');
  if (gone) return { kind: 'fail', reason: reasonGone(gone), error: whyGone(gone) };
  if (agents.every(({ state }) => state === 'prepared')) return { kind: 'arm' };
  if (!isLate(view, moment)) return undefined;
  const late = agents.filter(({ state }) => state !== 'prepared');
  return { kind: 'fail', reason: 'prepareTimeout', error: `not prepared in time: ${namesOf(late)}` };
};

const armed: Decide = (view, moment) => {
  const { run, agents } = view;
  const unfit = agents.find(({ state }) => state === 'failed');
  if (unfit) return { kind: 'fail', reason: 'engineError', error: whyGone(unfit) };
  for (const lost of agents.filter(({ state }) => state === 'lost')) {
    const reaction = reactionTo(view, lost.agentID);
    if (reaction === 'stop') return { kind: 'stop', endStatus: 8, reason: 'agentLost', error: '' };
    if (reaction === 'fail') return { kind: 'fail', reason: 'agentLost', error: whyGone(lost) };
  }
  if (run.t0 !== null && moment.now >= run.t0 && agents.every(hasBegun)) return { kind: 'run' };
  if (!isLate(view, moment)) return undefined;
  const silent = agents.filter((agent) => !hasBegun(agent));
  return { kind: 'fail', reason: 'engineError', error: `no traffic at the common start: ${namesOf(silent)}` };
};

/** Effect of lost agents on an active run. A failed engine is a fault even where a lost agent is tolerated. */
const afterLosses = (view: RunView): Step | undefined => {
  const gone = view.agents.filter(isGone);
  for (const agent of gone) {
    const reaction = reactionTo(view, agent.agentID);
    if (reaction === 'continue') continue;
    const reason = reasonGone(agent);
    if (reaction === 'stop' && reason === 'agentLost') return { kind: 'stop', endStatus: 8, reason, error: '' };
    return { kind: 'stop', endStatus: 9, reason, error: whyGone(agent) };
  }
  const [first] = gone;
  if (first === undefined || !areAllClientsGone(view)) return undefined;
  return { kind: 'stop', endStatus: 9, reason: reasonGone(first), error: `no agent is left: ${namesOf(gone)}` };
};

const plannedEnd: Step = { kind: 'stop', endStatus: 7, reason: 'duration', error: '' };

const running: Decide = (view, moment) =>
  afterLosses(view) ?? (haveClientsEnded(view) || isLate(view, moment) ? plannedEnd : undefined);

const paused: Decide = (view, moment) => {
  if (haveClientsEnded(view)) return afterLosses(view) ?? plannedEnd;
  const tooLong: Step = { kind: 'stop', endStatus: 8, reason: 'limit', error: '' };
  return afterLosses(view) ?? (isLate(view, moment) ? tooLong : undefined);
};

/** What the result lacks, by agent. */
const lackOf = ({ agents }: RunView, missing: MissingSeconds | undefined): string[] => {
  if (missing === undefined) return ['it is not known whether all results of the agents arrived'];
  return agents.flatMap(({ agentID, name }) => {
    const seconds = missing.get(agentID);
    return seconds === undefined
      ? []
      : [`${seconds} measured ${seconds === 1 ? 'second' : 'seconds'} of ${name} did not arrive`];
  });
};

const stopping: Decide = (view, moment) => {
  const open = view.agents.filter((agent) => !isDone(agent));
  const { missing } = moment;
  if (open.length === 0 && missing?.size === 0) return { kind: 'end', problems: [] };
  if (!isLate(view, moment)) return undefined;
  const late = open.map(({ name }) => `${name} did not end in time; its results may be incomplete`);
  return { kind: 'end', problems: [...late, ...lackOf(view, missing)] };
};

const deciders: Partial<Record<number, Decide>> = {
  [runStatus.preparing]: preparing,
  [runStatus.armed]: armed,
  [runStatus.running]: running,
  [runStatus.paused]: paused,
  [runStatus.stopping]: stopping,
};

/** Decides how a run continues. Queued runs are started by the queue scheduler. */
export const nextStep: Decide = (view, moment) => deciders[view.run.status]?.(view, moment);
