import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { afterAll, beforeEach } from 'vitest';

// Where the kernel groups processes by session, priority holds within the group only; this lifts the group itself.
const liftGroup = (nice: number): void => {
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch {
    // Only root may, and not every kernel groups.
  }
};

/**
 * Puts the tests of this file, and what they start, before other work on the machine. What is measured is the engines,
 * not how many others share the processor. Where that is not permitted the tests run as they are.
 */
export const takePriority = (): void => {
  try {
    setPriority(0, -15);
  } catch {
    return;
  }
  // Again before each: a file that ends beside this one sets the group back.
  beforeEach(() => liftGroup(-15));
  afterAll(() => liftGroup(0));
};
