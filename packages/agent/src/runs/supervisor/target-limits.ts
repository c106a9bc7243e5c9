import { isIP } from 'node:net';
import { parseNetwork } from '../../net/addresses/address-range.ts';

interface Range {
  readonly text: string;
  readonly version: number;
  readonly first: bigint;
  readonly last: bigint;
}

const rangeOf = (entry: string): Range => {
  const [address = ''] = entry.split('/');
  if (isIP(address) === 0) throw new RangeError(`${entry} is not an address or network`);
  const { version, first, size } = parseNetwork(entry);
  return { text: entry, version, first, last: first + size - 1n };
};

const isWithin = (inner: Range, outer: Range) =>
  inner.version === outer.version && inner.first >= outer.first && inner.last <= outer.last;

/**
 * Targets a job may send to: those it names that the agent's limits allow, and single hosts it names, which are the
 * addresses of other agents. Networks overlap only if one contains the other, so the result is exact.
 */
export const effectiveTargets = (ordered: readonly string[], limits: readonly string[]): string[] => {
  const wanted = ordered.map(rangeOf);
  const allowed = limits.map(rangeOf);
  const found = wanted.flatMap((range) =>
    range.first === range.last
      ? [range.text]
      : [
          ...(allowed.some((limit) => isWithin(range, limit)) ? [range.text] : []),
          ...allowed.filter((limit) => isWithin(limit, range)).map((limit) => limit.text),
        ],
  );
  return [...new Set(found)];
};
