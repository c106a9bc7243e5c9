import type { Task } from '@rushhour/contract';
import type { Capture } from '@rushhour/protocol';
import type { PlanAgent, PlanInput } from './plan-input.ts';
import type { PlanIssues } from './plan-issues.ts';

const neverSeen = 0;

/** What each of so many agents captures; undefined when nothing is wanted. */
export const captureOf = (
  { enabled = false, captureArp = false, savelen = 0, keep = 'first', keys = false }: Task['dumps'],
  { maxBytesPerRun, defaultSavelen }: PlanInput['dumpLimits'],
  agents: number,
): Capture | undefined =>
  enabled
    ? {
        ...{ captureArp, keep },
        savelen: savelen || defaultSavelen,
        maxBytes: Math.floor(maxBytesPerRun / Math.max(1, agents)),
        ...(keys && { keys }),
      }
    : undefined;

/** Agents that may not see packets leave no dumps; the rest of the run is as good as ever. */
export const reportCaptures = (agents: readonly PlanAgent[], issues: PlanIssues): void => {
  for (const { id, name, status, system } of new Set(agents)) {
    if (status === neverSeen || system.caps.includes('cap_net_raw')) continue;
    const message = `agent ${name} cannot capture packets: it lacks CAP_NET_RAW`;
    issues.caveat({ path: '/dumps/enabled', agentId: id }, 'CANNOT_CAPTURE', message);
  }
};
