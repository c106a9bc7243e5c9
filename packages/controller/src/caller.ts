import type { AiConstraints, AiLimits, AiPolicy, AiScope } from '@rushhour/contract';
import type { Origin } from './store/engine/change.ts';

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  accessExpiresAt: string;
  refreshExpiresAt: string;
}

/** One request as a handler sees it: its origin and what may be added to its response. */
export interface Visitor extends Origin {
  /** The refresh token of the cookie, if any. */
  readonly refreshToken: string | undefined;
  readonly lastEventId: string | undefined;
  /** Aborted when the client goes away or the controller stops. */
  readonly signal: AbortSignal;
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
  /** Sets session cookies, or clears them. */
  setSession(tokens: Tokens | undefined): void;
  /** The signed-in user of a public route, where there is one. */
  caller(): Promise<Caller | undefined>;
}

/** A signed-in user. Present on every route whose access is not `public`. */
export interface Caller extends Visitor {
  readonly userId: number;
  readonly sessionId: number;
  readonly isRequiredToSetPassword: boolean;
  readonly agreementAccepted: boolean;
  /** The integers of the group's permissions. */
  readonly permissions: ReadonlySet<number>;
}

/** A value for every member, including those without a limit. */
type Complete<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/** The present rights of a key. */
export interface AiKeyFacts {
  readonly id: number;
  readonly name: string;
  /** The part that is no secret. */
  readonly prefix: string;
  readonly owner: { readonly id: number; readonly realName: string };
  /** As given to the key. */
  readonly scopes: readonly AiScope[];
  /** Those that the owner's permissions still cover. */
  readonly effectiveScopes: ReadonlySet<AiScope>;
  readonly policy: Complete<AiPolicy>;
  /** `undefined` where the key is not bound. */
  readonly constraints: Complete<Omit<AiConstraints, 'projectIDs' | 'agentIDs' | 'targetCidrs'>> &
    Pick<AiConstraints, 'projectIDs' | 'agentIDs' | 'targetCidrs'>;
  readonly limits: Complete<AiLimits>;
  readonly ipAllowlist: readonly string[];
  readonly expiresAt: string;
}

/** Additional facts of a call for the audit entry. */
export interface AuditFacts {
  readonly risk?: string;
  readonly approvalId?: number;
  /** How the user of the client consented. This is not an approval. */
  readonly consent?: string;
}

/** One call of an AI key. Its changes are audited with the facts of the call. */
export interface AiCaller extends Visitor {
  /** The owner of the key. */
  readonly userId: number;
  /** The integers of the owner's group. */
  readonly permissions: ReadonlySet<number>;
  readonly key: AiKeyFacts;
  readonly transport: 'rest' | 'mcp';
  /** Of the header or the body, whichever the client used. */
  readonly idempotencyKey: string | undefined;
  /** The remaining request quotas. */
  remaining(): Record<string, number>;
  /** Adds facts to the audit entry: risk, approval. */
  noteAudit(facts: AuditFacts): void;
}
