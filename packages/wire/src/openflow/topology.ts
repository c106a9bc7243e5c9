export type OpenFlowTopology = 'line' | 'ring' | 'star' | 'mesh' | 'none';

/** The other end of a link: a switch, counted from 0, and its port, counted from 1. */
export interface LinkEnd {
  readonly index: number;
  readonly port: number;
}

/** Ports of a switch that lead to others. */
export const linkPortsOf = (topology: OpenFlowTopology, count: number, index: number): number => {
  if (topology === 'none' || count < 2) return 0;
  if (topology === 'mesh') return count - 1;
  if (topology === 'star') return index === 0 ? count - 1 : 1;
  const isEnd = topology === 'line' || count === 2 ? index === 0 || index === count - 1 : false;
  return isEnd ? 1 : 2;
};

/** Where a port of a switch leads to; undefined: to hosts. */
export const neighbourOf = (
  topology: OpenFlowTopology,
  count: number,
  { index, port }: LinkEnd,
): LinkEnd | undefined => {
  if (port < 1 || port > linkPortsOf(topology, count, index)) return undefined;
  if (topology === 'mesh') {
    const other = port - 1 < index ? port - 1 : port;
    return { index: other, port: index < other ? index + 1 : index };
  }
  if (topology === 'star') return index === 0 ? { index: port, port: 1 } : { index: 0, port: index };
  const isRing = topology === 'ring' && count > 2;
  // The first port leads back and the second one on, where there are both.
  const leadsBack = port === 1 && (isRing || index > 0);
  const other = (index + (leadsBack ? -1 : 1) + count) % count;
  const otherHasBoth = isRing || other > 0;
  return { index: other, port: leadsBack && otherHasBoth ? 2 : 1 };
};
