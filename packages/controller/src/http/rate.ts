import { tooMany } from '../errors.ts';

const windowMs = 60_000;
const maxKeys = 100_000;

interface Window {
  startMs: number;
  count: number;
}

/** Counts requests a minute for each key and refuses what is over the limit. */
export const createRateLimit = () => {
  const windows = new Map<string | number, Window>();
  return {
    /** Throws a 429 with `Retry-After`. */
    take(key: string | number, limit: number) {
      const now = Date.now();
      let window = windows.get(key);
      if (window === undefined || now - window.startMs >= windowMs) {
        if (windows.size >= maxKeys) windows.clear();
        window = { startMs: now, count: 0 };
        windows.set(key, window);
      }
      window.count += 1;
      if (window.count > limit) {
        const retryAfterSec = Math.max(1, Math.ceil((window.startMs + windowMs - now) / 1000));
        throw tooMany('RATE_LIMITED', `more than ${limit} requests a minute`, retryAfterSec);
      }
    },
  };
};

export type RateLimit = ReturnType<typeof createRateLimit>;
