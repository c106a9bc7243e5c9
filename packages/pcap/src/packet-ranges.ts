import { PcapError } from './pcap-error.ts';

const MAX_RANGES = 10_000;

/** A test for packet numbers out of a text such as "1-500,600"; an open end as in "600-" reaches to the last packet. */
export function parsePacketRanges(text: string): (number: number) => boolean {
  const ranges = text.split(',').map((part) => parseRange(part.trim(), text));
  if (ranges.length > MAX_RANGES) throw new PcapError('BAD_RANGE', `More than ${MAX_RANGES} packet ranges.`);
  const merged = merge(ranges.sort((left, right) => left[0] - right[0]));
  return (number) => isInside(merged, number);
}

type Range = [first: number, last: number];

function parseRange(part: string, text: string): Range {
  const match = /^(\d{1,15})(?:(-)(\d{1,15})?)?$/.exec(part);
  const first = Number(match?.[1] ?? 0);
  const last = match?.[2] === undefined ? first : Number(match[3] ?? Number.MAX_SAFE_INTEGER);
  if (first < 1 || last < first)
    throw new PcapError('BAD_RANGE', `"${text}" is not a list of packet ranges like 1-500,600.`);
  return [first, last];
}

function merge(sorted: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of sorted) {
    const previous = merged.at(-1);
    if (previous !== undefined && range[0] <= previous[1] + 1) previous[1] = Math.max(previous[1], range[1]);
    else merged.push([...range]);
  }
  return merged;
}

function isInside(ranges: readonly Range[], number: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as Range)[1] < number) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && range[0] <= number;
}
