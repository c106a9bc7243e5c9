import type { Duration } from '@rushhour/protocol';
import type { PlanIssues } from '../plan-issues.ts';
import { curveOf } from './load-stages.ts';
import type { TrafficEntry } from './traffic-entry.ts';

/** The part of a run that is judged, in seconds from the common start. */
export interface SteadyPart {
  readonly fromSec: number;
  readonly toSec: number;
}

/** Clients of a count end by themselves; what answers them waits a little longer than planned. */
const graceSec = 5;

export const reportDuration = ({ path, values }: TrafficEntry, issues: PlanIssues): void => {
  const { duration } = values;
  const location = `${path}/values/duration`;
  if (duration.stages.length > 0 && curveOf(values).curve === undefined) {
    issues.error(`${location}/stages`, 'NOT_SUPPORTED', 'the entry has no load that could follow stages');
  }
  if (duration.mode === 'count' && duration.count === undefined) {
    issues.error(`${location}/count`, 'REQUIRED', 'is required when the mode is count');
  }
  const ramps = duration.rampUpSec + duration.warmUpSec + duration.rampDownSec;
  if (duration.mode === 'time' && ramps >= duration.seconds) {
    const message = `ramps and warm-up take all ${duration.seconds} seconds: no time is left to measure`;
    issues.error(`${location}/seconds`, 'DURATION_TOO_SHORT', message);
  }
};

/** Of a client; `count` is its part. */
export const clientDuration = ({ values }: TrafficEntry, count: number): Duration => {
  const { mode, seconds, rampUpSec, warmUpSec, rampDownSec } = values.duration;
  return { mode, seconds, count, rampUpSec, warmUpSec, rampDownSec, ...curveOf(values) };
};

/** Undefined where the end is not known. */
export const steadyPart = ({ startAfterSec, values: { duration } }: TrafficEntry): SteadyPart | undefined => {
  if (duration.mode !== 'time') return undefined;
  return {
    fromSec: startAfterSec + duration.rampUpSec + duration.warmUpSec,
    toSec: startAfterSec + duration.seconds - duration.rampDownSec,
  };
};

/**
 * Of a server that answers these clients. It listens from before the common start until after the end of the run, but
 * is judged on the seconds in which its clients are.
 */
export const serverDuration = (clients: readonly TrafficEntry[], plannedSec: number | null): Duration => {
  const steady = clients.map(steadyPart);
  const from = clients.map(
    ({ startAfterSec, values: { duration } }) => startAfterSec + duration.rampUpSec + duration.warmUpSec,
  );
  const rampUpSec = from.length === 0 ? 0 : Math.min(...from);
  if (plannedSec === null) {
    return { mode: 'continuous', seconds: graceSec, count: 1, rampUpSec, warmUpSec: 0, rampDownSec: 0 };
  }
  const seconds = plannedSec + graceSec;
  const to = steady.map((part) => part?.toSec ?? plannedSec);
  const rampDownSec = seconds - (to.length === 0 ? plannedSec : Math.max(...to));
  return { mode: 'time', seconds, count: 1, rampUpSec, warmUpSec: 0, rampDownSec };
};
