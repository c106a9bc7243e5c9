import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { afterAll, beforeEach } from 'vitest';

// With autogroup, a nice value acts within its session's group only; this raises the group itself.
const liftGroup = (nice: number): void => {
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch {
    // Needs root and a kernel with autogroup.
  }
};

/**
 * Raises the priority of this file's tests and their children, so that they measure the engines and not the load of the
 * machine. Without permission the tests run at normal priority.
 */
export const takePriority = (): void => {
  try {
    setPriority(0, -15);
  } catch {
    return;
  }
  // Before each test: another file that ends meanwhile resets the group.
  beforeEach(() => liftGroup(-15));
  afterAll(() => liftGroup(0));
};
