import { agentStatus, isConnected } from '@rushhour/contract';
import type { PlanAgent } from './plan-input.ts';
import type { IssueLocation, PlanIssues } from './plan-issues.ts';

/** What agents are asked for: which engine, by which part of the task. */
export interface AgentUse {
  readonly agent: PlanAgent;
  readonly engine: string;
  readonly cpuCores: number;
  /** JSON pointer of the source or target. */
  readonly path: string;
}

/** An agent that is away is no fault of the task: a run waits for it. */
export const reportAgents = (uses: readonly AgentUse[], issues: PlanIssues): void => {
  for (const { agent, engine, cpuCores, path } of uses) {
    const place = { path: `${path}/agent/id`, agentId: agent.id };
    if (agent.isBlocked) issues.error(place, 'AGENT_BLOCKED', `agent ${agent.name} is blocked`);
    else if (agent.status === agentStatus.incompatible) {
      issues.error(place, 'AGENT_INCOMPATIBLE', `agent ${agent.name} has a version that does not fit`);
    } else if (!isConnected(agent.status)) issues.warning(place, 'AGENT_OFFLINE', `agent ${agent.name} is not online`);
    reportEngine({ agent, engine }, place, issues);
    if (cpuCores > agent.cpuCores && agent.cpuCores > 0) {
      issues.warning(place, 'CPU_CORES', `agent ${agent.name} has ${agent.cpuCores} cores, not ${cpuCores}`);
    }
  }
};

const reportEngine = (
  { agent, engine }: Pick<AgentUse, 'agent' | 'engine'>,
  place: IssueLocation,
  issues: PlanIssues,
): void => {
  if (agent.status === agentStatus.enrolled && agent.engines.length === 0) return;
  const ability = agent.engines.find((found) => found.engine === engine);
  if (ability?.available) return;
  const reason = ability?.reason || 'it has no such engine';
  issues.error(place, 'ENGINE_MISSING', `agent ${agent.name} cannot run ${engine}: ${reason}`);
};
