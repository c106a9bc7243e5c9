import { tooMany } from '../../errors.ts';

const maxAtOnce = 2;
const retryAfterSec = 5;

/** At most two concurrent exports per user. `take` returns a function that releases the slot. */
export const createExportQuota = () => {
  const running = new Map<number, number>();
  return {
    take: (userId: number): (() => void) => {
      const count = running.get(userId) ?? 0;
      if (count >= maxAtOnce)
        throw tooMany('TOO_MANY_EXPORTS', `more than ${maxAtOnce} exports at once`, retryAfterSec);
      running.set(userId, count + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const left = (running.get(userId) ?? 1) - 1;
        if (left === 0) running.delete(userId);
        else running.set(userId, left);
      };
    },
  };
};
