import type { Bus } from '../bus/local.ts';

interface Wait {
  readonly id: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Reads, and again whenever something may have changed, until it has or time is up. */
export const awaitApproval = async <T>(bus: Bus, { id, waitMs, signal }: Wait, read: () => Promise<T>): Promise<T> => {
  const endsAt = Date.now() + waitMs;
  let news = Promise.withResolvers<void>();
  const wake = () => news.resolve();
  const leave = bus.subscribe('approval.changed', (event) => {
    if (event.id === id) wake();
  });
  signal.addEventListener('abort', wake, { once: true });
  const timer = setTimeout(wake, waitMs);
  try {
    const first = await read();
    const known = JSON.stringify(first);
    let seen = first;
    while (JSON.stringify(seen) === known && Date.now() < endsAt && !signal.aborted) {
      await news.promise;
      news = Promise.withResolvers();
      seen = await read();
    }
    return seen;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    leave();
  }
};
