import { isSameAddress } from '../../ip/address.ts';
import { hasDesignated } from './format.ts';
import { neighbourState, type OspfNeighbour } from './neighbour.ts';
import type { OspfOptions } from './options.ts';

type Link = Pick<OspfOptions, 'format' | 'network' | 'neighbours'>;

/** Whom hellos go to; without multicast the neighbours of the task, and those that have said hello themselves. */
export const helloTargets = ({ format, neighbours }: Link, heard: Iterable<OspfNeighbour>): readonly Int32Array[] => {
  if (neighbours.length === 0) return [format.groups.all];
  const targets = [...neighbours];
  for (const { address } of heard) if (!targets.some((one) => isSameAddress(one, 0, address, 0))) targets.push(address);
  return targets;
};

/** Whom changes and acknowledgements go to. */
export const floodTargets = (
  { format, network, neighbours }: Link,
  heard: Iterable<OspfNeighbour>,
  isDesignated: boolean,
): readonly Int32Array[] => {
  const { all, designated } = format.groups;
  if (neighbours.length === 0) return [!hasDesignated(network) || isDesignated ? all : designated];
  return [...heard].filter(({ state }) => state >= neighbourState.exchange).map(({ address }) => address);
};
