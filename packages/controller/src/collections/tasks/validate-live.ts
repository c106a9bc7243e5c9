import type { ValidationIssue } from '@rushhour/contract';
import { type AgentGateway, AgentRefused, AgentUnreachable } from '../../agents/gateway.ts';
import type { AgentPlan, RunPlan } from '../../runs/plan/agent-plan.ts';
import { filesOnAgents } from '../../store/active-work.ts';
import type { Executor } from '../../store/database.ts';
import { placeOf } from './validate-agents.ts';

const probeMs = 30_000;

/** An order that is only tried belongs to no run. */
const noRun = { runId: 1, epoch: 0 };

interface Problem {
  readonly order: number;
  readonly code: string;
  readonly message: string;
}

/** What agents find when they prepare everything and send nothing. */
export const liveIssues = async (
  { gateway, read }: { gateway: AgentGateway; read: Executor },
  { agents }: RunPlan,
): Promise<ValidationIssue[]> => {
  const files = await filesOnAgents(
    read,
    agents.map(({ agentId }) => agentId),
  );
  const found = await Promise.all(
    agents.map(async (plan) => [
      ...fileIssues(plan, files.get(plan.agentId) ?? new Set()),
      ...(await probeIssues(gateway, plan)),
    ]),
  );
  return found.flat();
};

const fileIssues = (plan: AgentPlan, present: ReadonlySet<string>): ValidationIssue[] =>
  plan.files
    .filter(({ sha256 }) => !present.has(sha256))
    .map(({ sha256, size }) => ({
      severity: 'info',
      code: 'FILE_NOT_ON_AGENT',
      path: placeOf(plan),
      agentId: plan.agentId,
      message: `${size} bytes (${sha256.slice(0, 12)}…) will be sent to the agent first`,
    }));

const probeIssues = async (gateway: AgentGateway, plan: AgentPlan): Promise<ValidationIssue[]> => {
  const { agentId, orders, gateways } = plan;
  const failed = (code: string, message: string): ValidationIssue[] => [
    { severity: 'error', code, path: placeOf(plan), agentId, message },
  ];
  if (!gateway.isOnline(agentId)) return failed('AGENT_OFFLINE', `agent ${agentId} is not connected`);
  try {
    const answer = await gateway.ask(
      agentId,
      { kind: 'probe', orders: orders.map(({ order }) => ({ ...noRun, ...order })), gateways: [...gateways] },
      probeMs,
    );
    return problemsIn(answer).map((problem) => issueOf(problem, plan));
  } catch (error) {
    if (error instanceof AgentUnreachable) return failed('AGENT_OFFLINE', `agent ${agentId} did not answer`);
    if (error instanceof AgentRefused) return failed('PROBE_REFUSED', error.message);
    throw error;
  }
};

const isProblem = (value: Partial<Problem> | null): value is Problem =>
  typeof value?.order === 'number' && typeof value.code === 'string' && typeof value.message === 'string';

const problemsIn = (answer: unknown): readonly Problem[] => {
  const { problems } = (answer ?? {}) as { problems?: unknown };
  return Array.isArray(problems) ? problems.filter(isProblem) : [];
};

/** A router that is silent need not be in the way: targets may be nearer. */
const issueOf = ({ order, code, message }: Problem, plan: AgentPlan): ValidationIssue => ({
  severity: code === 'GATEWAY_UNREACHABLE' ? 'warning' : 'error',
  code,
  path: plan.orders[order]?.path ?? placeOf(plan),
  agentId: plan.agentId,
  message,
});
