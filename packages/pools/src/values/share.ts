/** Consecutive indexes: `start`, `start + 1`, … */
export interface Share {
  readonly start: bigint;
  readonly size: bigint;
}

/** Cuts a pool of `size` into disjoint, near-equal, consecutive shares, one per agent; together they are the pool. */
export function shareOf(size: bigint, agentIndex: number, agentCount: number): Share {
  if (!(agentIndex >= 0 && agentIndex < agentCount)) throw new RangeError(`no agent ${agentIndex} of ${agentCount}`);
  const [index, count] = [BigInt(agentIndex), BigInt(agentCount)];
  const start = (size * index) / count;
  return { start, size: (size * (index + 1n)) / count - start };
}
