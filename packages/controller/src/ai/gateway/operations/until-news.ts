import type { Bus } from '../../../bus/local.ts';

const pollMs = 500;

/** Reads until there is something new, the time is over or the client has gone; answers what was read last. */
export const untilNews = async <T>(
  bus: Bus,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  read: () => Promise<T>,
  isNew: (found: T) => boolean,
): Promise<T> => {
  const giveUpAt = Date.now() + waitMs;
  for (;;) {
    const news = Promise.withResolvers<void>();
    const leave = bus.subscribe('run.changed', () => news.resolve());
    const timer = setTimeout(() => news.resolve(), Math.min(pollMs, Math.max(0, giveUpAt - Date.now())));
    try {
      const found = await read();
      if (isNew(found) || Date.now() >= giveUpAt || signal.aborted) return found;
      await news.promise;
    } finally {
      leave();
      clearTimeout(timer);
    }
  }
};
