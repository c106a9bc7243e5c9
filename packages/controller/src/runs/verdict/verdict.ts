import { findPlugin, type ThresholdResult, verdicts } from '@rushhour/contract';
import type { RunValidity } from '../../store/runs/runs.ts';
import { jobsOf, type RunView } from '../lifecycle/run-view.ts';

const maxSaturatedShare = 0.05;
/** In a short run one saturated second exceeds the share and still proves nothing. */
const freeSeconds = 1;

/** The verdict on an attempt does not depend on pacing; attempts that were not sent lower the coverage. */
const isTimed = ({ pluginId }: { pluginId: number }) => findPlugin(pluginId)?.kind !== 'security';

/** A search goes beyond the limit on purpose and reports itself what it was. */
const isSearch = ({ run }: RunView, { entry }: { entry: number }) =>
  (run.definition.configuration[entry] as { values?: { duration?: { goal?: unknown } } } | undefined)?.values?.duration
    ?.goal !== undefined;

/** What saturated an agent, in words. */
const reasons: Readonly<Record<string, string>> = {
  cpu: 'CPU',
  eventLoopLag: 'event loop lag',
  scheduleLag: 'schedule lag',
  socketErrors: 'socket errors',
};

/** Jobs whose generator was saturated for more than 5 % of the time: their results describe the generator. */
export const saturationOf = (view: RunView): string[] =>
  jobsOf(view).flatMap(({ agent, job }) => {
    const { outcome, engine } = job;
    const [worst] = Object.entries(outcome?.saturatedSeconds ?? {}).sort(([, a], [, b]) => b - a);
    if (outcome === null || worst === undefined || !isTimed(job) || isSearch(view, job)) return [];
    const [reason, seconds] = worst;
    if (seconds <= Math.max(freeSeconds, maxSaturatedShare * outcome.lastSeq)) return [];
    return [
      `${agent.name} was saturated for ${seconds} of ${outcome.lastSeq} s (${engine}: ${reasons[reason] ?? reason})`,
    ];
  });

const limits = {
  processor: 'the processor of the agent',
  sockets: 'the sockets of the agent',
  peer: 'the peer',
  path: 'the path',
} as const;

const shortfallsOf = (view: RunView) =>
  jobsOf(view).flatMap(({ agent, job }) => {
    const { outcome, engine } = job;
    return outcome?.shortfall === undefined || !isTimed(job) || isSearch(view, job)
      ? []
      : [{ agent, engine, ...outcome.shortfall }];
  });

/** Jobs that did not reach their target load, and why. */
export const missedLoadsOf = (view: RunView): string[] =>
  shortfallsOf(view).map(({ agent, engine, wanted, begun, limit, evidence }) => {
    const reached = `${((100 * begun) / wanted).toFixed(1)} % of the target load`;
    return `${agent.name}: ${engine} reached ${reached} (${begun} of ${wanted}); the limit was ${limits[limit]}: ${evidence}`;
  });

const isOwnLimit = ({ limit }: { limit: keyof typeof limits }) => limit === 'processor' || limit === 'sockets';

/** Clients that a run with a planned end stopped before their own end: they measured less than planned. */
export const shortened = (view: RunView, measuredSec: number): string[] => {
  const { stopReason, plannedSec, pausedMs } = view.run;
  if (stopReason !== 'duration' || plannedSec === null) return [];
  const planned = plannedSec + pausedMs / 1000;
  const names = jobsOf(view)
    .filter(({ job: { role, outcome } }) => role === 'client' && outcome?.status === 'stopped')
    .map(({ agent, job }) => `${agent.name} (${job.engine})`);
  if (names.length === 0 || measuredSec >= planned) return [];
  return [
    `${measuredSec} of ${Math.round(planned)} planned seconds were measured: ${[...new Set(names)].join(', ')} was stopped early`,
  ];
};

const isDoubtful = ({ outcome, onNoData = 'fail' }: ThresholdResult) =>
  outcome === 'noData' && onNoData === 'inconclusive';

const isBroken = ({ outcome, onNoData = 'fail', severity = 'fail' }: ThresholdResult) =>
  severity === 'fail' && (outcome === 'failed' || (outcome === 'noData' && onNoData === 'fail'));

export interface VerdictResult {
  readonly verdict: number;
  readonly validity: RunValidity;
}

/** The verdict of a run and its validity. */
export const decideVerdict = (
  view: RunView,
  results: readonly ThresholdResult[],
  problems: readonly string[],
): VerdictResult => {
  const saturation = saturationOf(view);
  const doubts = results.filter(isDoubtful).map(({ name }) => `nothing was measured for threshold "${name}"`);
  const isSaturated = saturation.length > 0 || shortfallsOf(view).some(isOwnLimit);
  const { valid, reasons } = view.run.validity;
  const faults = [...problems, ...saturation, ...missedLoadsOf(view), ...doubts];
  const validity = { valid: valid && faults.length === 0, reasons: [...new Set([...reasons, ...faults])] };
  return { verdict: verdictOf(results, validity.valid, isSaturated), validity };
};

const verdictOf = (results: readonly ThresholdResult[], isValid: boolean, isSaturated: boolean) => {
  // A saturated generator measures itself: even a failed threshold says nothing about the target.
  if (isSaturated) return verdicts.inconclusive;
  if (results.some(isBroken)) return verdicts.failed;
  if (!isValid) return verdicts.inconclusive;
  return results.length > 0 ? verdicts.passed : verdicts.none;
};
