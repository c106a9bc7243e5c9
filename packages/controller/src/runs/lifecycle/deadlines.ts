import type { Settings } from '@rushhour/contract';
import type { RunRecord } from '../../store/runs/runs.ts';

/** Intervals that are not settings. Tests shorten them. */
export interface Timing {
  /** Interval between two checks of every run. */
  readonly tickMs: number;
  /** Minimum time between the start command and the common start. */
  readonly leadMs: number;
  /** Time after the common start for the first traffic of every agent. */
  readonly armedMs: number;
  /** Time after the planned end for agents to finish by themselves. */
  readonly marginMs: number;
  /** Interval between two attempts to get permission to conduct. */
  readonly retryMs: number;
  /** A controller that does not renew its lease for so long loses its runs. */
  readonly leaseMs: number;
  /** How much longer than the setting an agent may be without a connection before a run that heard nothing gives it up. */
  readonly absentMs: number;
  /** Time for results that arrive after the end of a run. */
  readonly lateMs: number;
  /** Interval between two attempts to reset an agent. */
  readonly resetMs: number;
}

export const defaultTiming: Timing = {
  tickMs: 1000,
  leadMs: 1000,
  armedMs: 10_000,
  marginMs: 30_000,
  retryMs: 3000,
  leaseMs: 6000,
  absentMs: 5000,
  lateMs: 60_000,
  resetMs: 5000,
};

type TaskSettings = Settings['tasks'];

const minBytesPerSec = 1024 * 1024;
const isoOf = (ms: number) => new Date(ms).toISOString();

/** The wait of a run with a start time begins at that time. */
export const queueDeadline = ({ queueTimeoutSec }: TaskSettings, now: number, notBefore: string | null) =>
  isoOf(Math.max(now, notBefore === null ? 0 : Date.parse(notBefore)) + queueTimeoutSec * 1000);

/** Files to be transferred extend the preparation. */
export const prepareDeadline = ({ prepareTimeoutSec }: TaskSettings, now: number, fileBytes: number) =>
  isoOf(now + (prepareTimeoutSec + fileBytes / minBytesPerSec) * 1000);

/** Reports of many agents take their time to arrive and to be stored. */
export const armedDeadline = (t0: number, agents: number, { armedMs }: Timing) => isoOf(t0 + armedMs + agents);

/** The planned end moves by the length of pauses. Runs that end by count or by hand have none. */
export const plannedEndMs = ({ t0, plannedSec, pausedMs }: Pick<RunRecord, 't0' | 'plannedSec' | 'pausedMs'>) =>
  t0 === null || plannedSec === null ? null : t0 + plannedSec * 1000 + pausedMs;

export const runningDeadline = (
  run: Pick<RunRecord, 't0' | 'plannedSec' | 'pausedMs'>,
  { marginMs }: Pick<Timing, 'marginMs'>,
) => {
  const end = plannedEndMs(run);
  return end === null ? null : isoOf(end + marginMs);
};

export const pauseDeadline = ({ maxPauseSec }: TaskSettings, now: number) => isoOf(now + maxPauseSec * 1000);

export const stopDeadline = ({ stopTimeoutSec }: TaskSettings, now: number) => isoOf(now + stopTimeoutSec * 1000);

/** Time to store the start of an agent and to send it the command. */
const leadPerAgentMs = 0.4;

/** The common start, from the round trips of all agents: late enough for the command to reach the slowest one. */
export const commonStart = (now: number, roundTripsMs: readonly number[], { leadMs }: Timing) => {
  const slowestMs = roundTripsMs.reduce((slowest, one) => Math.max(slowest, one), 0);
  return Math.ceil(now + Math.max(leadMs, 3 * slowestMs, leadPerAgentMs * roundTripsMs.length));
};
