import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

// Where the kernel groups processes by session, priority holds within the group only; this lifts the group itself.
const liftGroup = (nice: number): void => {
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch {
    // Only root may, and not every kernel groups.
  }
};

/**
 * Puts this process, and what it starts from now on, before other work on the machine until it ends. What is measured
 * is the engines, not how many others share the processor. Where that is not permitted the tests run as they are.
 */
export const takePriority = (): void => {
  try {
    setPriority(0, -15);
  } catch {
    return;
  }
  liftGroup(-15);
  process.on('exit', () => liftGroup(0));
};
