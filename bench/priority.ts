import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Raises the priority of the measured programs, if permitted. */
export const takePriority = (): void => {
  // With autogroup, a nice value acts within its session's group only; this raises the group itself.
  const liftGroup = (nice: number) => writeFileSync('/proc/self/autogroup', String(nice));
  try {
    setPriority(0, -15);
    liftGroup(-15);
    process.on('exit', () => liftGroup(0));
  } catch {
    console.log('no permission to raise the priority: other work on the machine affects the results');
  }
};
