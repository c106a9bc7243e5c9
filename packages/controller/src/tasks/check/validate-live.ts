import type { ValidationIssue } from '@rushhour/contract';
import type { Question } from '@rushhour/protocol';
import { type AgentGateway, AgentRefused, AgentUnreachable } from '../../agents/gateway/gateway.ts';
import type { AgentPlan, RunPlan } from '../../plan/core/agent-plan.ts';
import { pathOf } from './validate-agents.ts';

const probeMs = 30_000;
const fileMissing = 'FILE_MISSING';

/** A job of a dry run belongs to no run. */
const noRun = { runId: 1, epoch: 0 };

interface Problem {
  readonly order: number;
  readonly code: string;
  readonly message: string;
}

/** The agents' findings from a dry run that sends nothing. */
export const liveIssues = async (gateway: AgentGateway, { agents }: RunPlan): Promise<ValidationIssue[]> =>
  (await Promise.all(agents.map((plan) => issuesOn(gateway, plan)))).flat();

const issuesOn = async (gateway: AgentGateway, plan: AgentPlan): Promise<ValidationIssue[]> => {
  const { agentId } = plan;
  const failed = (code: string, message: string): ValidationIssue[] => [
    { severity: 'error', code, path: pathOf(plan), agentId, message },
  ];
  if (!gateway.isOnline(agentId)) return failed('AGENT_OFFLINE', `agent ${agentId} is not connected`);
  try {
    return (await probe(gateway, plan)).map((problem) => issueOf(problem, plan));
  } catch (error) {
    if (error instanceof AgentUnreachable) return failed('AGENT_OFFLINE', `agent ${agentId} did not answer`);
    if (error instanceof AgentRefused) return failed('PROBE_REFUSED', error.message);
    throw error;
  }
};

/** Missing files are sent before a run; the dry run works without them. */
const probe = async (gateway: AgentGateway, { agentId, jobs, gateways }: AgentPlan): Promise<readonly Problem[]> => {
  const ask = async (tried: readonly object[]) => {
    const question: Question = { kind: 'probe', orders: [...tried], gateways: [...gateways] };
    return problemsIn(await gateway.ask(agentId, question, probeMs));
  };
  const tried = jobs.map(({ job }) => ({ ...noRun, ...job }));
  const problems = await ask(tried);
  const missing = problems.filter(({ code }) => code === fileMissing);
  if (missing.length === 0) return problems;
  const isWithout = new Set(missing.map(({ order }) => order));
  const rest = await ask(
    tried.map((job, i) => (isWithout.has(i) ? { ...job, config: withoutFiles(job.config) } : job)),
  );
  return [...missing, ...rest];
};

const withoutFiles = (config: unknown): unknown => {
  if (Array.isArray(config)) return config.map(withoutFiles);
  if (typeof config !== 'object' || config === null) return config;
  if ('$file' in config) return '';
  return Object.fromEntries(Object.entries(config).map(([name, member]) => [name, withoutFiles(member)]));
};

const isProblem = (value: Partial<Problem> | null): value is Problem =>
  typeof value?.order === 'number' && typeof value.code === 'string' && typeof value.message === 'string';

const problemsIn = (answer: unknown): readonly Problem[] => {
  const { problems } = (answer ?? {}) as { problems?: unknown };
  return Array.isArray(problems) ? problems.filter(isProblem) : [];
};

const issueOf = ({ order, code, message }: Problem, plan: AgentPlan): ValidationIssue => {
  const where = { path: plan.jobs[order]?.path ?? pathOf(plan), agentId: plan.agentId };
  if (code === fileMissing) {
    const bytes = plan.files.reduce((sum, { size }) => sum + size, 0);
    return {
      severity: 'info',
      code: 'FILE_NOT_ON_AGENT',
      ...where,
      message: `${bytes} bytes have to be sent to the agent first`,
    };
  }
  // An unresponsive gateway may not matter: targets can be on the same network.
  return { severity: code === 'GATEWAY_UNREACHABLE' ? 'warning' : 'error', code, ...where, message };
};
