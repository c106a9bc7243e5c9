/** What a key of the AI gateway may be allowed to do. There is no scope that holds all others. */
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

/** R0 reads, R1 adds, RS makes traffic stop, R2 makes traffic, R3 is hazardous. */
export const aiRisks = ['R0', 'R1', 'RS', 'R2', 'R3'] as const;
export type AiRisk = (typeof aiRisks)[number];

/** What MCP clients are told about a tool. */
export interface AiAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** An operation that AI keys may call: over REST, and over MCP as a tool. */
export interface AiOperation {
  readonly scope: AiScope | 'any';
  /** Another scope that opens the operation for a part of what it does. */
  readonly orScope?: AiScope;
  /** `byPlan`: told by what the operation would do, see `POST /ai/gateway/tasks/validate`. */
  readonly risk: AiRisk | 'byPlan';
  /** Name of the MCP tool. */
  readonly tool: string;
  readonly annotations: AiAnnotations;
}
