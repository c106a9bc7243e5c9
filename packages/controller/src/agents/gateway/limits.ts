import type { Settings } from '@rushhour/contract';
import type { AgentLimits } from '@rushhour/protocol';

/** What agents are told to go by. */
export const limitsOf = ({ agents, tasks }: Settings): AgentLimits => ({
  heartbeatMs: agents.heartbeatSec * 1000,
  deadManMs: agents.deadManSec * 1000,
  allowedTargets: tasks.allowedTargets,
});
