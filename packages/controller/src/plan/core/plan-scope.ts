import type { AttemptFiles } from '../content/attempts.ts';
import type { AddressBook } from '../endpoints/address-book.ts';
import type { TargetGuard } from '../endpoints/target-guard.ts';
import type { Leaf } from './leaf.ts';
import type { PlanBudget } from './plan-budget.ts';
import type { PlanAgent, PlanInput } from './plan-input.ts';
import type { PlanIssues } from './plan-issues.ts';

/** What the plan of one entry is made in. */
export interface PlanScope {
  readonly input: PlanInput;
  readonly issues: PlanIssues;
  readonly book: AddressBook;
  readonly guard: TargetGuard;
  readonly budget: PlanBudget;
  readonly leaf: Leaf;
  /** Where attempts of security tests are put. */
  readonly attempts: AttemptFiles;
}

/** JSON pointer of something in the values of the entry. */
export const pointerIn = ({ leaf }: PlanScope, ...parts: readonly (string | number)[]): string =>
  [leaf.path, 'values', ...parts].join('/');

export const agentAt = ({ input, issues }: PlanScope, id: number, path: string): PlanAgent | undefined =>
  input.agents.get(id) ?? issues.error(`${path}/agent/id`, 'AGENT_UNKNOWN', `there is no agent ${id}`);
