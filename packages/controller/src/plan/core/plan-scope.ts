import type { AddressAllocator } from '../endpoints/address-allocator.ts';
import type { TargetGuard } from '../endpoints/target-guard.ts';
import type { StackDemand, StackDemands } from '../stack/stack-demand.ts';
import type { AttemptFiles } from './attempt-files.ts';
import type { TrafficEntry } from './load/traffic-entry.ts';
import type { PlanAgent, PlanInput } from './plan-input.ts';
import type { PlanIssues } from './plan-issues.ts';

/** Limits of a plan, so that it fits in memory: jobs, and targets of all clients together. */
const maxJobs = 20_000;
const maxTargets = 200_000;

/** What a plan may still grow by. */
export class PlanBudget {
  #jobs = maxJobs;
  #targets = maxTargets;

  /** False when there is no room for another client with that many targets. */
  takeClient(targets: number): boolean {
    this.#jobs -= 1;
    return this.takeTargets(targets) && this.#jobs >= 0;
  }

  takeTargets(targets: number): boolean {
    this.#targets -= targets;
    return this.#targets >= 0;
  }
}

/** The context in which one entry is planned. */
export interface PlanScope {
  readonly input: PlanInput;
  readonly issues: PlanIssues;
  readonly allocator: AddressAllocator;
  readonly guard: TargetGuard;
  readonly budget: PlanBudget;
  readonly entry: TrafficEntry;
  /** Why the entry runs on the agents' own IP stack; undefined: on kernel sockets. */
  readonly stack: StackDemand | undefined;
  readonly demands: StackDemands;
  /** Collects the attempts of security tests. */
  readonly attempts: AttemptFiles;
}

/** JSON pointer of a member of the entry's values. */
export const pointerIn = ({ entry }: PlanScope, ...parts: readonly (string | number)[]): string =>
  [entry.path, 'values', ...parts].join('/');

export const agentAt = ({ input, issues }: PlanScope, id: number, path: string): PlanAgent | undefined =>
  input.agents.get(id) ?? issues.error(`${path}/agent/id`, 'AGENT_UNKNOWN', `there is no agent ${id}`);
