import { afterEach } from 'vitest';
import type { TestAgent } from './agent.ts';

/** A list of agents that are closed after each test. */
export const useOpenAgents = (): TestAgent[] => {
  const open: TestAgent[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((agent) => agent.close()));
  });
  return open;
};
