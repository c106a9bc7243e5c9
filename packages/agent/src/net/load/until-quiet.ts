import { setTimeout as sleep } from 'node:timers/promises';
import type { Counter } from '../../samples.ts';

const lookMs = 50;
/** Longer than paths usually hold packets. */
const quietMs = 500;
const maxMs = 3000;

/** Waits at the end of a run for packets that are still in transit: until none has arrived for a while. */
export const untilQuiet = async (received: Counter): Promise<void> => {
  const begun = performance.now();
  let [count, heardAt] = [received.value, begun];
  // Nothing has ever arrived: there is no path to wait for.
  if (count === 0) return;
  while (performance.now() - heardAt < quietMs && performance.now() - begun < maxMs) {
    await sleep(lookMs);
    if (received.value !== count) [count, heardAt] = [received.value, performance.now()];
  }
};
