import { floorIndex, mergeRanges } from '../values/value-range.ts';

export interface PortSet {
  readonly size: number;
  /** Ascending, overlaps merged: "80,8000-8100". */
  readonly text: string;
  at(index: number): number;
  has(port: number): boolean;
}

/** A comma list of ports 1 … 65535 and ranges `a-b`; overlaps count once. */
export function findPorts(text: string): PortSet | undefined {
  const ranges: { first: bigint; last: bigint }[] = [];
  for (const item of text.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,5})(?:\s*-\s*(\d{1,5}))?\s*$/.exec(item) ?? [];
    const range = { first: Number(first), last: Number(last) };
    if (!(range.first >= 1 && range.first <= range.last && range.last <= 65535)) return undefined;
    ranges.push({ first: BigInt(range.first), last: BigInt(range.last) });
  }
  return createPortSet(mergeRanges(ranges).map(({ first, last }) => ({ first: Number(first), last: Number(last) })));
}

export function parsePorts(text: string): PortSet {
  const ports = findPorts(text);
  if (ports === undefined) throw new RangeError(`"${text}" is not a list of ports such as "80,8000-8100"`);
  return ports;
}

function createPortSet(ranges: readonly { first: number; last: number }[]): PortSet {
  const before: number[] = [];
  let size = 0;
  for (const range of ranges) {
    before.push(size);
    size += range.last - range.first + 1;
  }
  return {
    size,
    text: ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(','),
    at: (index) => {
      const i = floorIndex(before, index);
      const range = ranges[i];
      if (range === undefined || index >= size) throw new RangeError(`no port ${index} in a set of ${size}`);
      return range.first + index - (before[i] ?? 0);
    },
    has: (port) => ranges.some(({ first, last }) => port >= first && port <= last),
  };
}
