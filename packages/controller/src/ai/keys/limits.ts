import type { AiKeyFacts } from '../../caller.ts';
import { tooMany } from '../../errors.ts';

const minuteMs = 60_000;
const maxKeys = 10_000;

/** A token bucket. */
interface Bucket {
  tokens: number;
  filledMs: number;
}

const refill = (bucket: Bucket, perMinute: number, nowMs: number) => {
  const grown = bucket.tokens + ((nowMs - bucket.filledMs) * perMinute) / minuteMs;
  bucket.tokens = Math.min(2 * perMinute, grown);
  bucket.filledMs = nowMs;
};

const secondsUntil = (missing: number, perMinute: number) => Math.max(1, Math.ceil((missing * 60) / perMinute));

interface Meters {
  requests: Bucket;
  writes: Bucket;
  running: number;
}

const draw = (bucket: Bucket, perMinute: number, what: string) => {
  if (bucket.tokens < 1) {
    const message = `more than ${perMinute} ${what} a minute`;
    throw tooMany('RATE_LIMITED', message, secondsUntil(1 - bucket.tokens, perMinute));
  }
  bucket.tokens -= 1;
};

/** Rate and concurrency limits of a key. Bursts of twice the limit are allowed. */
export const createLimits = (now: () => number = Date.now) => {
  const byKey = new Map<number, Meters>();
  const metersOf = ({ id, limits }: AiKeyFacts) => {
    let meters = byKey.get(id);
    if (meters === undefined) {
      if (byKey.size >= maxKeys) byKey.clear();
      const full = (perMinute: number) => ({ tokens: 2 * perMinute, filledMs: now() });
      meters = { requests: full(limits.requestsPerMin), writes: full(limits.writesPerMin), running: 0 };
      byKey.set(id, meters);
    }
    refill(meters.requests, limits.requestsPerMin, now());
    refill(meters.writes, limits.writesPerMin, now());
    return meters;
  };

  return {
    /** Counts a call, or refuses it with a retry time. */
    take: (key: AiKeyFacts, isWrite: boolean) => {
      const { requests, writes } = metersOf(key);
      draw(requests, key.limits.requestsPerMin, 'requests');
      if (isWrite) draw(writes, key.limits.writesPerMin, 'writes');
    },
    /** Counts a running call; the returned function ends it. */
    enter: (key: AiKeyFacts) => {
      const meters = metersOf(key);
      const { parallel } = key.limits;
      if (meters.running >= parallel) throw tooMany('RATE_LIMITED', `more than ${parallel} requests at once`, 1);
      meters.running += 1;
      return () => {
        meters.running -= 1;
      };
    },
    remaining: (key: AiKeyFacts) => {
      const { requests, writes, running } = metersOf(key);
      return {
        requests: Math.floor(requests.tokens),
        writes: Math.floor(writes.tokens),
        parallel: key.limits.parallel - running,
      };
    },
    /** Headers of draft-ietf-httpapi-ratelimit-headers. */
    headersOf: (key: AiKeyFacts) => {
      const { requestsPerMin } = key.limits;
      const { requests } = metersOf(key);
      const reset = secondsUntil(2 * requestsPerMin - requests.tokens, requestsPerMin);
      return {
        'ratelimit-policy': `"rpm";q=${requestsPerMin};w=60`,
        ratelimit: `"rpm";r=${Math.floor(requests.tokens)};t=${reset}`,
      };
    },
  };
};

export type Limits = ReturnType<typeof createLimits>;

const maxBad = 20;

/** Addresses that send invalid keys are throttled before any lookup. */
export const createBadKeyThrottle = (now: () => number = Date.now) => {
  const byAddress = new Map<string, { startMs: number; count: number; blockedUntilMs: number }>();
  return {
    assertMayTry: (address: string) => {
      const waitMs = (byAddress.get(address)?.blockedUntilMs ?? 0) - now();
      if (waitMs > 0) throw tooMany('RATE_LIMITED', 'too many invalid keys', Math.ceil(waitMs / 1000));
    },
    count: (address: string) => {
      let tries = byAddress.get(address);
      if (tries === undefined || now() - tries.startMs >= minuteMs) {
        if (byAddress.size >= maxKeys) byAddress.clear();
        tries = { startMs: now(), count: 0, blockedUntilMs: 0 };
        byAddress.set(address, tries);
      }
      tries.count += 1;
      if (tries.count > maxBad) tries.blockedUntilMs = now() + minuteMs;
    },
  };
};
