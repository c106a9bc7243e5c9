import { type PortSet, parseAddress } from '@rushhour/pools';
import type { Target } from '@rushhour/protocol';
import type { AddressShare } from './address-share.ts';

/** Most addresses and ports of an entry where ranges of them are measured together. */
export const maxRangeEndpoints = 100_000;

const maxRanges = 1024;

const countOf = ({ host, last }: Pick<Target, 'host' | 'last'>): number =>
  last === undefined ? 1 : Number(parseAddress(last).value - parseAddress(host).value) + 1;

/** Addresses and ports, those of ranges included. */
export const endpointCountOf = (targets: readonly Target[]): number =>
  targets.reduce((sum, target) => sum + countOf(target), 0);

/** The addresses of a network as ranges, each with its part of the weight; undefined if they are in too many pieces. */
export const rangeTargets = (share: AddressShare, ports: PortSet, weight: number): Target[] | undefined => {
  const { ranges, count } = share.ranges();
  if (ranges.length * ports.size > maxRanges) return undefined;
  const each = weight / (count * ports.size);
  return ranges.flatMap((text) => {
    const [host = '', last] = text.split('-');
    const range = { host, ...(last !== undefined && { last }) };
    return Array.from({ length: ports.size }, (_, i) => ({
      ...range,
      port: ports.at(i),
      weight: each * countOf(range),
    }));
  });
};
