import { hasDesignated, type LinkState, type OwnLsa } from '../format.ts';
import {
  linkType,
  lsaOf,
  lsaType,
  optionsOf,
  type Prefix,
  type RouterLink,
  readLinkPrefixes,
  writeLinkBody,
  writeNetworkBody,
  writePrefixesBody,
  writeRouterBody,
} from './lsa.ts';
import { ownInterfaceId, type Version3Options } from './options.ts';

const maxMetric = 0xffff;
/** Ids of the LSAs with the prefixes of the router and of its network. */
const prefixLsaId = { router: 0, network: 1 } as const;

const isTransit = ({ routerId, network }: Version3Options, { adjacent, designated }: LinkState): boolean =>
  hasDesignated(network) &&
  (designated === routerId ? adjacent.length > 0 : adjacent.some((one) => one.routerId === designated));

const ownLinks = (options: Version3Options, state: LinkState): RouterLink[] => {
  const { isOverloaded, network, cost, area } = options;
  const metric = isOverloaded ? maxMetric : cost;
  const { adjacent, designated } = state;
  const transitInterface = adjacent.find((one) => one.routerId === designated)?.interfaceId ?? ownInterfaceId;
  const transit = {
    ...{ type: linkType.transit, metric, interfaceId: ownInterfaceId },
    ...{ neighbourInterfaceId: transitInterface, neighbour: designated },
  };
  const direct = adjacent.map(({ routerId: neighbour, interfaceId: neighbourInterfaceId }) => ({
    ...{ type: linkType.pointToPoint, metric, interfaceId: ownInterfaceId, neighbourInterfaceId, neighbour },
  }));
  const links = !hasDesignated(network) ? direct : isTransit(options, state) ? [transit] : [];
  return [...links, ...area.linkToNodes(isOverloaded)];
};

/** Prefixes that the routers of a network have said to be on it, each once. */
const networkPrefixes = (own: Prefix | undefined, { adjacent, lsas }: LinkState): Prefix[] => {
  const routers = new Set(adjacent.map(({ routerId }) => routerId));
  const prefixes = new Map<string, Prefix>();
  const add = (prefix: Prefix) => prefixes.set(`${prefix.words}/${prefix.bits}`, prefix);
  if (own !== undefined) add(own);
  for (const { header, bytes } of lsas)
    if (header.type === lsaType.link && routers.has(header.router)) for (const one of readLinkPrefixes(bytes)) add(one);
  return [...prefixes.values()];
};

/** Router and link LSA, the prefix of the link, and what a designated router says about the network. */
export const ownLsas = (options: Version3Options, state: LinkState): OwnLsa[] => {
  const { routerId, area, areaKind, cost, network, linkLocal, prefix, ownAddress, priority } = options;
  const bits = optionsOf(areaKind);
  const router = lsaOf(lsaType.router, 0, routerId);
  const prefixes = prefix === undefined ? [] : [prefix];
  const link = { priority: hasDesignated(network) ? priority : 1, options: bits, linkLocal, prefixes };
  const lsas: OwnLsa[] = [
    { ...router, write: writeRouterBody(area.flags, bits, ownLinks(options, state)) },
    { ...lsaOf(lsaType.link, ownInterfaceId, routerId), write: writeLinkBody(link) },
  ];
  const withPrefixes = (id: number, to: typeof router, all: readonly Prefix[], metric: number): void => {
    if (all.length === 0) return;
    lsas.push({ ...lsaOf(lsaType.intraAreaPrefix, id, routerId), write: writePrefixesBody(to, metric, all) });
  };
  if (network === 'point-to-multipoint')
    withPrefixes(prefixLsaId.router, router, ownAddress === undefined ? [] : [ownAddress], 0);
  else if (!isTransit(options, state)) withPrefixes(prefixLsaId.router, router, prefixes, cost);
  else if (state.designated === routerId) {
    const described = lsaOf(lsaType.network, ownInterfaceId, routerId);
    const routers = [routerId, ...state.adjacent.map((one) => one.routerId)];
    lsas.push({ ...described, write: writeNetworkBody(bits, routers) });
    withPrefixes(prefixLsaId.network, described, networkPrefixes(prefix, state), 0);
  }
  return lsas;
};
