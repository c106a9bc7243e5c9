import type { ToController } from '@rushhour/protocol';

/** A token bucket: `burst` at once, `perSecond` sustained. */
export const createBucket = ({ perSecond, burst }: { perSecond: number; burst: number }) => {
  let tokens = burst;
  let at = performance.now();
  return {
    /** False when the limit is exceeded. */
    take: (): boolean => {
      const now = performance.now();
      tokens = Math.min(burst, tokens + ((now - at) / 1000) * perSecond);
      at = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    isFull: () => tokens + ((performance.now() - at) / 1000) * perSecond >= burst,
  };
};

// Several times what agents send; the shortest heartbeat interval is 100 ms.
const limits = {
  any: { perSecond: 5000, burst: 20_000 },
  heartbeat: { perSecond: 50, burst: 200 },
  facts: { perSecond: 5, burst: 100 },
  logs: { perSecond: 50, burst: 500 },
};

/** Limits the messages of one connection, so that one agent cannot occupy the controller. */
export const createMessageLimits = () => {
  const any = createBucket(limits.any);
  const byType = new Map<ToController['type'], ReturnType<typeof createBucket>>([
    ['heartbeat', createBucket(limits.heartbeat)],
    ['facts', createBucket(limits.facts)],
    ['logs', createBucket(limits.logs)],
  ]);
  return { accepts: (type: ToController['type']): boolean => any.take() && (byType.get(type)?.take() ?? true) };
};

const arrivals = { perSecond: 1, burst: 30 };
const maxTracked = 10_000;

/** Limits how often one identity may connect. */
export const createArrivalLimit = () => {
  const buckets = new Map<string, ReturnType<typeof createBucket>>();
  return (uuid: string): boolean => {
    const bucket = buckets.get(uuid) ?? createBucket(arrivals);
    buckets.set(uuid, bucket);
    if (buckets.size > maxTracked) for (const [id, one] of buckets) if (one.isFull()) buckets.delete(id);
    return bucket.take();
  };
};
