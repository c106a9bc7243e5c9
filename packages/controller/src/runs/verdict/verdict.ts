import { findPlugin, type ThresholdResult, verdicts } from '@rushhour/contract';
import type { RunValidity } from '../../store/runs/runs.ts';
import { ordersOf, type RunView } from '../lifecycle/run-view.ts';

const maxSaturatedShare = 0.05;
/** Of a short run a single second, such as its first, is more than its share and yet says nothing. */
const freeSeconds = 1;

/** What a device did to an attempt does not depend on how soon after another it came; what was missed lowers coverage. */
const isTimed = ({ pluginId }: { pluginId: number }) => findPlugin(pluginId)?.kind !== 'security';

/** Orders whose generator was the limit for more than a twentieth of the time: what they show is itself. */
export const saturationOf = (view: RunView): string[] =>
  ordersOf(view).flatMap(({ agent, order }) => {
    const { outcome, engine } = order;
    const [worst] = Object.entries(outcome?.saturatedSeconds ?? {}).sort(([, a], [, b]) => b - a);
    if (outcome === null || worst === undefined || !isTimed(order)) return [];
    const [reason, seconds] = worst;
    if (seconds <= Math.max(freeSeconds, maxSaturatedShare * outcome.lastSeq)) return [];
    return [`${agent.name} was itself the limit of ${engine} in ${seconds} of ${outcome.lastSeq} seconds (${reason})`];
  });

const isDoubtful = ({ outcome, onNoData = 'fail' }: ThresholdResult) =>
  outcome === 'noData' && onNoData === 'inconclusive';

const isBroken = ({ outcome, onNoData = 'fail', severity = 'fail' }: ThresholdResult) =>
  severity === 'fail' && (outcome === 'failed' || (outcome === 'noData' && onNoData === 'fail'));

export interface VerdictResult {
  readonly verdict: number;
  readonly validity: RunValidity;
}

/** What a run showed, and whether to believe it. */
export const decideVerdict = (
  view: RunView,
  results: readonly ThresholdResult[],
  problems: readonly string[],
): VerdictResult => {
  const saturation = saturationOf(view);
  const doubts = results.filter(isDoubtful).map(({ name }) => `nothing was measured for threshold "${name}"`);
  const { valid, reasons } = view.run.validity;
  const faults = [...problems, ...saturation, ...doubts];
  const validity = { valid: valid && faults.length === 0, reasons: [...new Set([...reasons, ...faults])] };
  return { verdict: verdictOf(results, validity.valid, saturation.length > 0), validity };
};

const verdictOf = (results: readonly ThresholdResult[], isValid: boolean, isSaturated: boolean) => {
  // A generator at its limit measures itself: not even a failed threshold says anything about the target.
  if (isSaturated) return verdicts.inconclusive;
  if (results.some(isBroken)) return verdicts.failed;
  if (!isValid) return verdicts.inconclusive;
  return results.length > 0 ? verdicts.passed : verdicts.none;
};
