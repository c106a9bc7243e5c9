import { availableParallelism } from 'node:os';

/** Calls once at a set time, which may be set anew. Times are those of `performance.now`. */
export interface Alarm {
  set(at: number): void;
  cancel(): void;
}

export type CreateAlarm = (ring: () => void) => Alarm;

// A timer fires up to 2 ms late, so the last stretch before the time is waited out by turning the event loop.
const turnMs = availableParallelism() > 1 ? 2 : 0;
const longestMs = 2 ** 30;

/** By Node's own timers. May ring early: whoever is woken looks at the clock and sets it again. */
export const createNodeAlarm: CreateAlarm = (ring) => {
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  const cancel = () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
  return {
    cancel,
    set(at) {
      cancel();
      const wait = at - performance.now();
      if (wait > turnMs) timer = setTimeout(ring, Math.min(Math.max(1, wait - turnMs), longestMs));
      else immediate = setImmediate(ring);
    },
  };
};
