import type { Bus } from '../../bus/local.ts';
import { clockNow } from '../../clock.ts';
import type { TaskStatus } from './task-status.ts';

interface Wait {
  taskId: number;
  /** The status known to the client; the current one by default. */
  since: number | undefined;
  waitMs: number;
  signal: AbortSignal;
}

/** Reads the status after every possible change until it differs from the known one or the time is up. */
export const awaitStatus = async (
  bus: Bus,
  { taskId, since, waitMs, signal }: Wait,
  read: () => Promise<TaskStatus>,
): Promise<TaskStatus> => {
  const endsAt = clockNow() + waitMs;
  let news = Promise.withResolvers<void>();
  const leave = bus.subscribe('task.status', ({ id }) => {
    if (id === taskId) news.resolve();
  });
  const stop = () => news.resolve();
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(stop, waitMs);
  try {
    let status = await read();
    const known = since ?? status.status;
    while (status.status === known && clockNow() < endsAt && !signal.aborted) {
      await news.promise;
      news = Promise.withResolvers();
      status = await read();
    }
    return status;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    leave();
  }
};
