import type { Logger } from 'pino';
import type { FastLink, PeerLink } from './peer-link.ts';

/** News of lost messages within this time are reported once. */
const settleMs = 500;
/** A controller that was not heard by the slow link for so long is gone, or is heard by the fast one. */
const forgetMs = 10_000;

/** Who is heard by the slow link, and when messages may have been lost because that changed. */
const createRoutes = () => {
  /** When they were last heard by it. */
  const slowPeers = new Map<string, number>();
  const fastPeers = new Set<string>();
  const resumed: (() => void)[] = [];
  let settling: NodeJS.Timeout | undefined;

  const missed = () => {
    clearTimeout(settling);
    settling = setTimeout(() => resumed.forEach((listener) => void listener()), settleMs);
  };
  return {
    missed,
    onResumed: (listener: () => void) => void resumed.push(listener),
    heardFast: (peer: string) => {
      fastPeers.add(peer);
      if (slowPeers.delete(peer)) missed();
    },
    heardSlow: (peer: string) => {
      slowPeers.set(peer, performance.now());
      if (fastPeers.delete(peer)) missed();
    },
    isSlow: (peer: string) => slowPeers.has(peer),
    slow: () => {
      const now = performance.now();
      for (const [peer, heardAt] of slowPeers) if (now - heardAt > forgetMs) slowPeers.delete(peer);
      return [...slowPeers.keys()];
    },
    close: () => clearTimeout(settling),
  };
};

const followLinks = (fast: FastLink, slow: PeerLink, routes: ReturnType<typeof createRoutes>, log: Logger) => {
  fast.onChange(() => {
    if (fast.isConnected) log.info({ medium: fast.medium }, 'controllers are connected');
    else log.warn({ medium: slow.medium }, `without ${fast.medium} messages to other controllers are slower`);
    routes.missed();
  });
  slow.onResumed(() => {
    if (!fast.isConnected || routes.slow().length > 0) routes.missed();
  });
};

/**
 * The fast link while it is connected, and the slow one for controllers that it does not reach: those whose own fast link is
 * away are heard by the slow one.
 */
export const preferredLink = (fast: FastLink, slow: PeerLink, log: Logger): PeerLink => {
  const routes = createRoutes();
  followLinks(fast, slow, routes, log);
  return {
    id: fast.id,
    get medium() {
      return fast.isConnected ? fast.medium : slow.medium;
    },
    send: (to, message) => {
      if (!fast.isConnected) return slow.send(to, message);
      if (to !== undefined) return (routes.isSlow(to) ? slow : fast).send(to, message);
      fast.send(undefined, message);
      for (const peer of routes.slow()) slow.send(peer, message);
    },
    receive: (listener) => {
      fast.receive((from, message) => {
        routes.heardFast(from);
        listener(from, message);
      });
      slow.receive((from, message) => {
        routes.heardSlow(from);
        listener(from, message);
      });
    },
    onResumed: routes.onResumed,
    countOthers: () => slow.countOthers(),
    close: async () => {
      routes.close();
      await fast.close();
      await slow.close();
    },
  };
};
