import type { LinkState, OwnLsa } from '../format.ts';
import { linkType, lsaOf, lsaType, type RouterLink, writeNetworkBody, writeRouterBody } from './lsa.ts';
import type { Version2Options } from './options.ts';

const maxMetric = 0xffff;

/** Links of the own router LSA: to neighbours, to the network, and to the generated routers. */
const ownLinks = (options: Version2Options, { adjacent, designated }: LinkState): RouterLink[] => {
  const { area, isOverloaded, address, mask, cost, isBroadcast } = options;
  const metric = isOverloaded ? maxMetric : cost;
  const stub = { type: linkType.stub, id: (address & mask) >>> 0, data: mask, metric: cost };
  if (!isBroadcast) {
    const links = adjacent.map((one) => ({ type: linkType.pointToPoint, id: one.routerId, data: address, metric }));
    return [...links, stub, ...area.linkToNodes(isOverloaded)];
  }
  const isTransit = designated === address ? adjacent.length > 0 : adjacent.some((one) => one.name === designated);
  const link = isTransit ? { type: linkType.transit, id: designated, data: address, metric } : stub;
  return [link, ...area.linkToNodes(isOverloaded)];
};

/** The router LSA, and the network LSA of a designated router. */
export const ownLsas = (options: Version2Options, lsaOptions: number, state: LinkState): OwnLsa[] => {
  const { routerId, area, address, mask, isBroadcast } = options;
  const links = ownLinks(options, state);
  const own = { ...lsaOf(lsaOptions, lsaType.router, routerId, routerId), write: writeRouterBody(area.flags, links) };
  if (!isBroadcast || state.designated !== address || state.adjacent.length === 0) return [own];
  const routers = [routerId, ...state.adjacent.map((one) => one.routerId)];
  const network = lsaOf(lsaOptions, lsaType.network, address, routerId);
  return [own, { ...network, write: writeNetworkBody(mask, routers) }];
};
