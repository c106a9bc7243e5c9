import type { ReplayPart } from '@rushhour/protocol';

const checkSequenceBytes = 4;

/** Due times of all frames of one loop, in milliseconds from its start. */
export interface Timetable {
  /** All frames in order, including those of the peer. */
  readonly dueMs: Float64Array;
  /** Duration from the start of one loop to the start of the next. */
  readonly loopMs: number;
}

type Options = Pick<ReplayPart, 'speed' | 'loopDelayMs'>;

const originalTimes = (timesMs: readonly number[], multiplier: number): { dueMs: Float64Array; lengthMs: number } => {
  const dueMs = Float64Array.from(timesMs, (timeMs) => timeMs / multiplier);
  const last = dueMs.at(-1) ?? 0;
  // Adds one average gap, so that the last frame of a loop and the first of the next do not coincide.
  return { dueMs, lengthMs: dueMs.length > 1 ? last + last / (dueMs.length - 1) : last };
};

const steadyTimes = (costs: readonly number[], perSecond: number): { dueMs: Float64Array; lengthMs: number } => {
  const dueMs = new Float64Array(costs.length);
  let total = 0;
  for (const [index, cost] of costs.entries()) {
    dueMs[index] = (total / perSecond) * 1000;
    total += cost;
  }
  return { dueMs, lengthMs: (total / perSecond) * 1000 };
};

const speedOf = ({ mode, value }: ReplayPart['speed']): number => {
  if (value === undefined) throw new RangeError(`speed ${mode} needs a value`);
  return value;
};

/** Undefined for maximum speed. */
export const timetableOf = (
  frames: { readonly timesMs: readonly number[]; readonly lengths: readonly number[] },
  { speed, loopDelayMs }: Options,
): Timetable | undefined => {
  if (speed.mode === 'max') return undefined;
  const { dueMs, lengthMs } =
    speed.mode === 'original'
      ? originalTimes(frames.timesMs, speed.multiplier)
      : steadyTimes(
          frames.lengths.map((length) => (speed.mode === 'pps' ? 1 : (length + checkSequenceBytes) * 8)),
          speedOf(speed),
        );
  return { dueMs, loopMs: lengthMs + loopDelayMs };
};
