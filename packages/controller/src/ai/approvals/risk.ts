import { type AiConstraints, type ConfigurationEntry, entriesOf, hazardOf } from '@rushhour/contract';
import { forbidden } from '../../errors.ts';
import type { RunPlan } from '../../plan/core/agent-plan.ts';
import { TargetGuard } from '../../plan/endpoints/target-guard.ts';
import type { Risk } from '../keys/policy.ts';

export const taskActions = ['start', 'stop', 'pause', 'resume', 'restart', 'set-rate', 'delete'] as const;
export type TaskAction = (typeof taskActions)[number];

export interface RiskyDefinition {
  readonly configuration: readonly unknown[];
  readonly accessPlane?: readonly unknown[] | undefined;
  readonly controlPlane?: readonly unknown[] | undefined;
}

/** The effect of one task. */
export interface RiskFacts {
  readonly definition: RiskyDefinition;
  /** Undefined when no plan could be made. */
  readonly plan: Pick<RunPlan, 'agents' | 'estimate' | 'isLoadKnown'> | undefined;
  /** Sources need not belong to an interface. */
  readonly isSpoofing: boolean;
  /** Ratio of the new to the current load; 1 unless the rate changes. */
  readonly loadFactor?: number | undefined;
}

export interface VerdictResult {
  readonly risk: Risk;
  /** Why it is hazardous, for users. */
  readonly reasons: readonly string[];
}

const hazardous = 2;
const special = {
  'malware-transfer': { flag: 'allowMalware', reason: 'uses malware samples' },
  'cve-replay': { flag: 'allowCve', reason: 'replays vulnerabilities' },
  'compromised-host': { flag: 'allowCompromisedHost', reason: 'plays a compromised host' },
} as const;

const entriesIn = ({ configuration }: RiskyDefinition) => entriesOf(configuration as ConfigurationEntry[]);

const specialsIn = (definition: RiskyDefinition) => {
  const names = new Set(entriesIn(definition).map(({ plugin }) => plugin?.name ?? ''));
  return Object.entries(special).flatMap(([name, one]) => (names.has(name) ? [one] : []));
};

/** The target of clients. Undefined if a job gives it in another form. */
export const targetsOf = ({ agents }: Pick<RunPlan, 'agents'>): string[] | undefined => {
  const hosts = new Set<string>();
  for (const { job } of agents.flatMap(({ jobs }) => jobs).filter(({ role }) => role === 'client')) {
    const { targets } = job.config as { targets?: unknown };
    if (!Array.isArray(targets)) return undefined;
    for (const target of targets as { host?: unknown }[]) {
      if (typeof target.host !== 'string') return undefined;
      hosts.add(target.host);
    }
  }
  return [...hosts];
};

const loadReasons = (facts: RiskFacts, { maxBps, maxPps }: AiConstraints): string[] => {
  if (facts.plan === undefined) return ['no plan could be made of it'];
  const { loadFactor = 1 } = facts;
  const { bps, pps } = facts.plan.estimate;
  const isLimited = typeof maxBps === 'number' || typeof maxPps === 'number';
  const isOver = (value: number, limit: number | null | undefined) =>
    limit !== null && limit !== undefined && !(value * loadFactor <= limit);
  return [
    ...(isOver(bps, maxBps) ? [`more than ${maxBps} bits a second`] : []),
    ...(isOver(pps, maxPps) ? [`more than ${maxPps} packets a second`] : []),
    ...(isLimited && !facts.plan.isLoadKnown
      ? ['how much it sends is not known beforehand, and the key has a limit']
      : []),
  ];
};

const targetReasons = ({ plan }: RiskFacts, { targetCidrs }: AiConstraints): string[] => {
  if (plan === undefined || targetCidrs === undefined) return [];
  const hosts = targetsOf(plan);
  if (hosts === undefined) return ['its targets are not known'];
  const guard = new TargetGuard(targetCidrs, new Set());
  const outside = hosts.filter((host) => !guard.allows(host));
  return outside.length === 0 ? [] : [`sends to ${outside.slice(0, 3).join(', ')}, outside the ranges of the key`];
};

const hazardReasons = ({ definition, isSpoofing }: RiskFacts): string[] => {
  const specials = specialsIn(definition);
  const hazard = hazardOf({ ...definition, configuration: definition.configuration as ConfigurationEntry[] });
  return [
    ...specials.map(({ reason }) => reason),
    ...(specials.length === 0 && hazard >= hazardous ? ['uses hazardous plugins'] : []),
    ...(isSpoofing ? ['sends from addresses that are not its own'] : []),
  ];
};

const trafficRisk = (facts: RiskFacts, constraints: AiConstraints): VerdictResult => {
  const reasons = [...hazardReasons(facts), ...loadReasons(facts, constraints), ...targetReasons(facts, constraints)];
  return { risk: reasons.length > 0 ? 'R3' : 'R2', reasons };
};

const rankOf: Record<Risk, number> = { R0: 0, RS: 1, R1: 2, R2: 3, R3: 4 };
const worst = (judgements: readonly VerdictResult[]): VerdictResult => ({
  risk: judgements.map(({ risk }) => risk).reduce((a, b) => (rankOf[b] > rankOf[a] ? b : a)),
  reasons: [...new Set(judgements.flatMap(({ reasons }) => reasons))],
});

const judgeOne = (action: TaskAction, facts: RiskFacts, constraints: AiConstraints): VerdictResult => {
  if (action === 'delete') return { risk: 'R3', reasons: ['deletes the task'] };
  if (action === 'stop' || action === 'pause') return { risk: 'RS', reasons: [] };
  if (action === 'set-rate' && facts.loadFactor !== undefined && facts.loadFactor <= 1)
    return { risk: 'RS', reasons: [] };
  return trafficRisk(facts, constraints);
};

/** The risk class of a request, from its real effect. What cannot be assessed is hazardous. */
export const riskOf = (action: TaskAction, tasks: readonly RiskFacts[], constraints: AiConstraints): VerdictResult => {
  try {
    return worst(tasks.map((facts) => judgeOne(action, facts, constraints)));
  } catch {
    return { risk: 'R3', reasons: ['its risk could not be judged'] };
  }
};

const refuse = (constraint: string, message: string) =>
  forbidden('AI_CONSTRAINT', `this key may not ${message}`, { constraint });

/** Refuses what this key can never do, approved or not. */
export const assertWithin = (
  { definition, plan }: RiskFacts,
  constraints: AiConstraints,
  agentIds: readonly number[],
) => {
  for (const { flag, reason } of specialsIn(definition)) {
    if (constraints[flag] !== true) throw refuse(flag, `start what ${reason}`);
  }
  const foreign = agentIds.find((id) => constraints.agentIDs !== undefined && !constraints.agentIDs.includes(id));
  if (foreign !== undefined) throw refuse('agentIDs', `use agent ${foreign}`);
  const { maxTaskDurationSec = 3600 } = constraints;
  const seconds = plan?.estimate.durationSec ?? Number.POSITIVE_INFINITY;
  if (seconds > maxTaskDurationSec) {
    const length = Number.isFinite(seconds) ? `for ${seconds} s` : 'without a planned end';
    throw refuse('maxTaskDurationSec', `run tasks ${length}: give durationSec, ${maxTaskDurationSec} at most`);
  }
};
