import type { Approval } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { approvalsIn } from './approval-state.ts';

interface Wait {
  readonly id: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Is there something to do for the key, or nothing left to wait for? */
const isDecided = ({ state, policy, requiredDecisions, decisions }: Approval) =>
  state !== 'pending' || policy !== 'human' || approvalsIn({ decisions }) >= requiredDecisions;

/** Reads, and again whenever something may have changed, until people have decided more or time is up. */
export const awaitApproval = async (
  bus: Bus,
  { id, waitMs, signal }: Wait,
  read: () => Promise<Approval>,
): Promise<Approval> => {
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
    while (!isDecided(seen) && JSON.stringify(seen) === known && Date.now() < endsAt && !signal.aborted) {
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
