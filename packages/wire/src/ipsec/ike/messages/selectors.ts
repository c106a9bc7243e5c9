import type { TrafficSelector } from './payloads.ts';

export const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};

/** All protocols and ports of an address range. */
export const selectorOf = (start: Uint8Array, end: Uint8Array): TrafficSelector => ({
  protocol: 0,
  startPort: 0,
  endPort: 65_535,
  start,
  end,
});

/** Everything of one IP version. */
export const anySelector = (version: 4 | 6): TrafficSelector => {
  const size = version === 4 ? 4 : 16;
  return selectorOf(new Uint8Array(size), new Uint8Array(size).fill(255));
};

const intersection = (one: TrafficSelector, other: TrafficSelector): TrafficSelector | undefined => {
  if (one.start.length !== other.start.length) return undefined;
  if (one.protocol !== 0 && other.protocol !== 0 && one.protocol !== other.protocol) return undefined;
  const start = compareBytes(one.start, other.start) >= 0 ? one.start : other.start;
  const end = compareBytes(one.end, other.end) <= 0 ? one.end : other.end;
  const startPort = Math.max(one.startPort, other.startPort);
  const endPort = Math.min(one.endPort, other.endPort);
  if (compareBytes(start, end) > 0 || startPort > endPort) return undefined;
  return { protocol: one.protocol || other.protocol, startPort, endPort, start, end };
};

/** The part of what a peer offers that is configured here; empty: nothing is acceptable. */
export const narrowSelectors = (
  offered: readonly TrafficSelector[],
  configured: readonly TrafficSelector[],
): readonly TrafficSelector[] => {
  // Most peers offer just that, and the SAs to them share it.
  const [one, other] = [offered[0], configured[0]];
  const isSingle = offered.length === 1 && configured.length === 1;
  if (isSingle && isSameSelector(one as TrafficSelector, other as TrafficSelector)) return configured;
  return narrowAll(offered, configured);
};

const narrowAll = (
  offered: readonly TrafficSelector[],
  configured: readonly TrafficSelector[],
): readonly TrafficSelector[] => {
  const common: TrafficSelector[] = [];
  for (const one of offered) {
    for (const other of configured) {
      const part = intersection(one, other);
      if (part !== undefined && !common.some((earlier) => isSameSelector(earlier, part))) common.push(part);
    }
  }
  return shared(common);
};

const maxShared = 1024;
const known = new Map<string, TrafficSelector[]>();

/** Most SAs of an endpoint have the same selectors: these exist once. */
const shared = (selectors: TrafficSelector[]): TrafficSelector[] => {
  if (selectors.length !== 1) return selectors;
  const [{ protocol, startPort, endPort, start, end }] = selectors as [TrafficSelector];
  const key = `${protocol} ${startPort} ${endPort} ${start.join('.')} ${end.join('.')}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size < maxShared) known.set(key, selectors);
  return selectors;
};

const isSameSelector = (one: TrafficSelector, other: TrafficSelector): boolean =>
  one.protocol === other.protocol &&
  one.startPort === other.startPort &&
  one.endPort === other.endPort &&
  compareBytes(one.start, other.start) === 0 &&
  compareBytes(one.end, other.end) === 0;

/** True if the address lies in one of the ranges. */
export const hasAddress = (selectors: readonly TrafficSelector[], address: Uint8Array): boolean =>
  selectors.some(
    ({ start, end }) =>
      start.length === address.length && compareBytes(start, address) <= 0 && compareBytes(address, end) <= 0,
  );
