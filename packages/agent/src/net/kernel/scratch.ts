import { type Memory, mapMemory } from './memory.ts';

let memory: Memory | undefined;

/** A page for the arguments of one call at a time, on this thread. Nothing in it outlives the call. */
export const scratch = (): Memory => {
  memory ??= mapMemory({ length: 4096 });
  return memory;
};
