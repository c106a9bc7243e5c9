/** Inclusive at both ends. */
export interface ValueRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Sorts and merges ranges: disjoint and never adjacent, as the other functions of this file expect. */
export function mergeRanges(ranges: readonly ValueRange[]): ValueRange[] {
  const sorted = ranges.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: { first: bigint; last: bigint }[] = [];
  for (const range of sorted) {
    const previous = merged.at(-1);
    if (previous === undefined || range.first > previous.last + 1n) {
      merged.push({ first: range.first, last: range.last });
    } else if (range.last > previous.last) previous.last = range.last;
  }
  return merged;
}

/** `whole` without the merged `holes`. */
export function subtractRanges(whole: ValueRange, holes: readonly ValueRange[]): ValueRange[] {
  const left: ValueRange[] = [];
  let first = whole.first;
  for (const hole of holes) {
    if (hole.last < first) continue;
    if (hole.first > whole.last) break;
    if (hole.first > first) left.push({ first, last: hole.first - 1n });
    first = hole.last + 1n;
  }
  if (first <= whole.last) left.push({ first, last: whole.last });
  return left;
}

export function intersectRanges(a: readonly ValueRange[], b: readonly ValueRange[]): ValueRange[] {
  const common: ValueRange[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = a[i] as ValueRange;
    const right = b[j] as ValueRange;
    const { first } = left.first > right.first ? left : right;
    const { last } = left.last < right.last ? left : right;
    if (first <= last) common.push({ first, last });
    if (left.last < right.last) i++;
    else j++;
  }
  return common;
}

/** Position of the last element ≤ `value` in an ascending list, or -1. */
export function floorIndex<T extends bigint | number>(ascending: readonly T[] | Float64Array, value: T): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as T) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
