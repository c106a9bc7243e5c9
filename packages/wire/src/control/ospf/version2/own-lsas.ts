import { hasDesignated, type LinkState, type OwnLsa } from '../format.ts';
import { linkType, lsaOf, lsaType, type RouterLink, writeNetworkBody, writeRouterBody } from './lsa.ts';
import type { Version2Options } from './options.ts';

const maxMetric = 0xffff;
const hostMask = 0xffffffff;

/** Links of the own router LSA: to neighbours, to the network, and to the generated routers. */
const ownLinks = (options: Version2Options, { adjacent, designated }: LinkState): RouterLink[] => {
  const { area, isOverloaded, address, mask, cost, network } = options;
  const metric = isOverloaded ? maxMetric : cost;
  const stub = { type: linkType.stub, id: (address & mask) >>> 0, data: mask, metric: cost };
  if (!hasDesignated(network)) {
    const links = adjacent.map((one) => ({ type: linkType.pointToPoint, id: one.routerId, data: address, metric }));
    // The routers of a point-to-multipoint network need not reach each other: it is no prefix (RFC 2328, 12.4.1.4).
    const own = network === 'point-to-point' ? stub : { ...stub, id: address, data: hostMask, metric: 0 };
    return [...links, own, ...area.linkToNodes(isOverloaded)];
  }
  const isTransit = designated === address ? adjacent.length > 0 : adjacent.some((one) => one.name === designated);
  const link = isTransit ? { type: linkType.transit, id: designated, data: address, metric } : stub;
  return [link, ...area.linkToNodes(isOverloaded)];
};

/** The router LSA, and the network LSA of a designated router. */
export const ownLsas = (options: Version2Options, lsaOptions: number, state: LinkState): OwnLsa[] => {
  const { routerId, area, address, mask, network } = options;
  const links = ownLinks(options, state);
  const own = { ...lsaOf(lsaOptions, lsaType.router, routerId, routerId), write: writeRouterBody(area.flags, links) };
  if (!hasDesignated(network) || state.designated !== address || state.adjacent.length === 0) return [own];
  const routers = [routerId, ...state.adjacent.map((one) => one.routerId)];
  const described = lsaOf(lsaOptions, lsaType.network, address, routerId);
  return [own, { ...described, write: writeNetworkBody(mask, routers) }];
};
