import type { Mac } from './mac.ts';
import { type MacReferences, readMacBlock } from './mac-reference.ts';
import { floorIndex, mergeRanges, type ValueRange } from './value-range.ts';

/** Many MAC records as one ascending list without repetition. */
export interface MacPool {
  readonly size: bigint;
  at(index: bigint): Mac;
  findIndex(mac: Mac): bigint | undefined;
}

export function readMacPool(macIds: readonly number[], references: MacReferences): MacPool | undefined {
  if (macIds.length === 0) {
    return references.issues.error('/macPolicy/macIds', 'MAC_POOL_EMPTY', 'a pool needs at least one record');
  }
  const ranges: ValueRange[] = [];
  for (const [i, id] of macIds.entries()) {
    const block = readMacBlock(id, `/macPolicy/macIds/${i}`, references);
    if (block !== undefined) ranges.push({ first: BigInt(block.first), last: BigInt(block.first + block.count - 1) });
  }
  return ranges.length === 0 ? undefined : createMacPool(mergeRanges(ranges));
}

function createMacPool(ranges: readonly ValueRange[]): MacPool {
  const firsts = ranges.map((range) => range.first);
  const before: bigint[] = [];
  let size = 0n;
  for (const { first, last } of ranges) {
    before.push(size);
    size += last - first + 1n;
  }
  return {
    size,
    at: (index) => {
      const i = floorIndex(before, index);
      const range = ranges[i];
      if (range === undefined || index >= size) throw new RangeError(`no MAC ${index} in a pool of ${size}`);
      return Number(range.first + index - (before[i] as bigint));
    },
    findIndex: (mac) => {
      const i = floorIndex(firsts, BigInt(mac));
      const range = ranges[i];
      if (range === undefined || BigInt(mac) > range.last) return undefined;
      return (before[i] as bigint) + BigInt(mac) - range.first;
    },
  };
}
