/** Scopes of AI gateway keys. No scope includes another. */
export const aiScopes = [
  'state:read',
  'agents:read',
  'resources:read',
  'tasks:read',
  'results:read',
  'drafts:write',
  'tasks:create',
  'tasks:start',
  'tasks:control',
  'tasks:delete',
  'audit:read',
] as const;
export type AiScope = (typeof aiScopes)[number];

/** R0 reads, R1 creates records, RS stops traffic, R2 starts traffic, R3 is hazardous. */
export const aiRisks = ['R0', 'R1', 'RS', 'R2', 'R3'] as const;
export type AiRisk = (typeof aiRisks)[number];

/** Tool annotations of MCP. */
export interface AiAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** An operation that AI keys may call: over REST, and over MCP as a tool. */
export interface AiOperation {
  readonly scope: AiScope | 'any';
  /** An alternative scope that allows part of the operation. */
  readonly orScope?: AiScope;
  /** `byPlan`: the risk depends on the plan of the task, see `POST /ai/gateway/tasks/validate`. */
  readonly risk: AiRisk | 'byPlan';
  /** Name of the MCP tool. */
  readonly tool: string;
  readonly annotations: AiAnnotations;
}
