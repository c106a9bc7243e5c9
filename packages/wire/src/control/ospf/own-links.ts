import { linkType, type RouterLink } from './lsa.ts';
import { neighbourState, type OspfNeighbour } from './neighbour.ts';
import type { OspfOptions } from './options.ts';

const maxMetric = 0xffff;

/** Links of the own router LSA: to neighbours, to the network, and to the generated routers. */
export const ownLinks = (
  options: OspfOptions,
  neighbours: Iterable<OspfNeighbour>,
  designated: number,
): RouterLink[] => {
  const { area, isOverloaded, address, mask, cost, isBroadcast } = options;
  const metric = isOverloaded ? maxMetric : cost;
  const full = [...neighbours].filter(({ state }) => state === neighbourState.full);
  const stub = { type: linkType.stub, id: (address & mask) >>> 0, data: mask, metric: cost };
  if (!isBroadcast) {
    const links = full.map((one) => ({ type: linkType.pointToPoint, id: one.routerId, data: address, metric }));
    return [...links, stub, ...area.linkToNodes(isOverloaded)];
  }
  const isTransit = designated === address ? full.length > 0 : full.some((one) => one.address === designated);
  const link = isTransit ? { type: linkType.transit, id: designated, data: address, metric } : stub;
  return [link, ...area.linkToNodes(isOverloaded)];
};
