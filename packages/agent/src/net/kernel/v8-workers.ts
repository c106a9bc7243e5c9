import { readdirSync, readFileSync } from 'node:fs';
import { requireLibc } from './libc.ts';
import { mapMemory } from './memory.ts';

const policy = { usual: 0, idle: 5 } as const;
const folder = '/proc/self/task';

const isHelper = (thread: string): boolean => {
  try {
    return readFileSync(`${folder}/${thread}/comm`, 'utf8').startsWith('V8Worker');
  } catch {
    // It has ended meanwhile.
    return false;
  }
};

const setPolicy = (threads: readonly string[], wanted: number): void => {
  const parameter = mapMemory({ length: 4 });
  for (const thread of threads) requireLibc().sched_setscheduler(Number(thread), wanted, parameter.addressOf(0, 4));
  parameter.release();
};

/**
 * Lets the threads on which V8 compiles and collects run only while nothing else wants their core; the function it
 * returns undoes it. For processes with one core: elsewhere V8 may wait for a helper that another program keeps waiting.
 */
export const calmHelperThreads = (): (() => void) => {
  const threads = readdirSync(folder).filter(isHelper);
  setPolicy(threads, policy.idle);
  return () => setPolicy(threads, policy.usual);
};
