import { readdirSync, readFileSync } from 'node:fs';
import { requireLibc } from './libc.ts';
import { mapMemory } from './memory.ts';

const policy = { normal: 0, idle: 5 } as const;
const folder = '/proc/self/task';

const isV8Worker = (thread: string): boolean => {
  try {
    return readFileSync(`${folder}/${thread}/comm`, 'utf8').startsWith('V8Worker');
  } catch {
    // The thread has ended in the meantime.
    return false;
  }
};

const setPolicy = (threads: readonly string[], wanted: number): void => {
  const parameter = mapMemory({ length: 4 });
  for (const thread of threads) requireLibc().sched_setscheduler(Number(thread), wanted, parameter.addressOf(0, 4));
  parameter.release();
};

/**
 * Gives the threads on which V8 compiles and collects garbage idle priority; the returned function undoes it. For
 * processes with one core: elsewhere V8 may wait for a worker that another program keeps off the CPU.
 */
export const setV8WorkersIdle = (): (() => void) => {
  const threads = readdirSync(folder).filter(isV8Worker);
  setPolicy(threads, policy.idle);
  return () => setPolicy(threads, policy.normal);
};
