import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** One metric in one step of time; `count` is how many seconds said something of it. */
export interface Step {
  readonly spanSec: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly last: number;
  readonly count: number;
  /** All single values, of a metric that has them. */
  readonly spread: Uint8Array | undefined;
}

export type StepsByMetric = ReadonlyMap<string, readonly Step[]>;

const members = ['spanSec', 'sum', 'min', 'max', 'last', 'count'] as const;

interface Column {
  readonly metric: string;
  readonly steps: number;
  /** Lengths of the spreads, 0 where there is none; left out where no step has one. */
  readonly spreads?: readonly number[];
}

/** Equal things lie side by side: a member of a metric in all steps, then the next member. */
const numbersOf = (steps: readonly Step[]): Buffer => {
  const numbers = new Float64Array(members.flatMap((member) => steps.map((step) => step[member])));
  return Buffer.from(numbers.buffer);
};

export const packSteps = (all: StepsByMetric): Uint8Array => {
  const columns: Column[] = [];
  const parts: Uint8Array[] = [];
  for (const [metric, steps] of all) {
    const spreads = steps.map(({ spread }) => spread ?? new Uint8Array());
    const hasSpreads = spreads.some(({ length }) => length > 0);
    columns.push({ metric, steps: steps.length, ...(hasSpreads && { spreads: spreads.map(({ length }) => length) }) });
    parts.push(numbersOf(steps), ...spreads);
  }
  const head = Buffer.from(JSON.stringify(columns));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return zstdCompressSync(Buffer.concat([length, head, ...parts]));
};

const stepsAt = (bytes: Buffer, at: number, { steps, spreads = [] }: Column): Step[] => {
  const numberAt = (member: number, step: number) => bytes.readDoubleLE(at + (member * steps + step) * 8);
  let next = at + members.length * steps * 8;
  return Array.from({ length: steps }, (_, step) => {
    const [spanSec = 0, sum = 0, min = 0, max = 0, last = 0, count = 0] = members.map((_name, i) => numberAt(i, step));
    const length = spreads[step] ?? 0;
    const spread = length > 0 ? bytes.subarray(next, next + length) : undefined;
    next += length;
    return { ...{ spanSec, sum, min, max, last, count }, spread };
  });
};

/** The steps of some metrics. */
export const unpackSteps = (packed: Uint8Array, wanted: ReadonlySet<string>): StepsByMetric => {
  const bytes = zstdDecompressSync(packed);
  const start = 4 + bytes.readUInt32LE(0);
  const columns = JSON.parse(bytes.toString('utf8', 4, start)) as Column[];
  const found = new Map<string, Step[]>();
  let at = start;
  for (const column of columns) {
    if (wanted.has(column.metric)) found.set(column.metric, stepsAt(bytes, at, column));
    at += members.length * column.steps * 8 + (column.spreads ?? []).reduce((sum, length) => sum + length, 0);
  }
  return found;
};
