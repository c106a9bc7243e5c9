import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Everything that is measured goes before other work on the machine, where that is permitted. */
export const takePriority = (): void => {
  // Where the kernel groups processes by session, priority holds within the group only; this lifts the group itself.
  const liftGroup = (nice: number) => writeFileSync('/proc/self/autogroup', String(nice));
  try {
    setPriority(0, -15);
    liftGroup(-15);
    process.on('exit', () => liftGroup(0));
  } catch {
    console.log('no right to a higher priority: other work on the machine blurs the figures');
  }
};
