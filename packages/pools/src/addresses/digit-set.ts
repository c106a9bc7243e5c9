import { floorIndex } from '../values/value-range.ts';

/** first, first + step, … up to last at most. */
export interface DigitRun {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

/** The values one octet or hextet may take, in ascending order. */
export interface DigitSet {
  readonly runs: readonly DigitRun[];
  readonly size: number;
  at(index: number): number;
  /** How many members are smaller than `value`. */
  rank(value: number): number;
  has(value: number): boolean;
}

export function createDigitSet(wanted: readonly DigitRun[]): DigitSet {
  const runs = disjointRuns(wanted);
  const firsts = runs.map((run) => run.first);
  const before: number[] = [];
  let size = 0;
  for (const run of runs) {
    before.push(size);
    size += countOf(run);
  }
  const at = (index: number): number => {
    const i = floorIndex(before, index);
    const run = runs[i];
    if (run === undefined || index >= size) throw new RangeError(`no member ${index}`);
    return run.first + (index - (before[i] ?? 0)) * run.step;
  };
  const rank = (value: number): number => {
    const i = floorIndex(firsts, value);
    const run = runs[i];
    if (run === undefined) return 0;
    return (before[i] ?? 0) + Math.min(countOf(run), Math.ceil((value - run.first) / run.step));
  };
  const has = (value: number): boolean => {
    const run = runs[floorIndex(firsts, value)];
    return run !== undefined && value <= run.last && (value - run.first) % run.step === 0;
  };
  return { runs, size, at, rank, has };
}

/** Exact also where steps differ; a digit has at most 65,536 values, and only stepped sets are walked. */
export function intersectDigitSets(a: DigitSet, b: DigitSet): DigitSet {
  const [left, right] = [a.runs[0], b.runs[0]];
  if (a.runs.length === 1 && b.runs.length === 1 && left?.step === 1 && right?.step === 1) {
    const run = { first: Math.max(left.first, right.first), last: Math.min(left.last, right.last), step: 1 };
    return createDigitSet(run.first <= run.last ? [run] : []);
  }
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  const values: number[] = [];
  for (let i = 0; i < small.size; i++) {
    const value = small.at(i);
    if (large.has(value)) values.push(value);
  }
  return createDigitSet(runsOf(values));
}

function countOf(run: DigitRun): number {
  return Math.floor((run.last - run.first) / run.step) + 1;
}

// Stepped runs that interleave have no closed form; they fall back to the values themselves.
function disjointRuns(wanted: readonly DigitRun[]): DigitRun[] {
  const sorted = wanted.toSorted((a, b) => a.first - b.first);
  let reach = -1;
  let interleaved = false;
  for (const run of sorted) {
    if (run.first <= reach) interleaved = true;
    reach = Math.max(reach, run.last);
  }
  if (!interleaved) return sorted;
  const values = new Set<number>();
  for (const run of sorted) for (let value = run.first; value <= run.last; value += run.step) values.add(value);
  return runsOf([...values].sort((a, b) => a - b));
}

function runsOf(ascending: readonly number[]): DigitRun[] {
  const runs: { first: number; last: number; step: number }[] = [];
  for (const value of ascending) {
    const previous = runs.at(-1);
    if (previous !== undefined && value === previous.last + 1) previous.last = value;
    else runs.push({ first: value, last: value, step: 1 });
  }
  return runs;
}
