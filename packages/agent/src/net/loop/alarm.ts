import { availableParallelism } from 'node:os';

/** A one-shot timer that can be re-armed. Times are on the `performance.now` clock. */
export interface Alarm {
  set(at: number): void;
  cancel(): void;
}

export type CreateAlarm = (onAlarm: () => void) => Alarm;

// Node's timers fire up to 2 ms late, so the last stretch is spent spinning the event loop. A machine with one core
// cannot afford that.
const spinMs = availableParallelism() > 1 ? 2 : 0;
const maxDelayMs = 2 ** 30;

/** Based on Node's timers. May fire early: the callback checks the clock and re-arms the alarm. */
export const createNodeAlarm: CreateAlarm = (onAlarm) => {
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
      if (wait > spinMs) timer = setTimeout(onAlarm, Math.min(Math.max(1, wait - spinMs), maxDelayMs));
      else immediate = setImmediate(onAlarm);
    },
  };
};
