import type { AiConstraints, AiLimits, AiPolicy, AiScope } from '@rushhour/contract';
import type { Origin } from './store/engine/change.ts';

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  accessExpiresAt: string;
  refreshExpiresAt: string;
}

/** One request, seen by a handler: where it comes from and what may be added to its answer. */
export interface Visitor extends Origin {
  /** The refresh token of the cookie, if any. */
  readonly refreshToken: string | undefined;
  readonly lastEventId: string | undefined;
  /** Aborted when the client goes away or the controller stops. */
  readonly signal: AbortSignal;
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
  /** Hands out session cookies, or takes them away. */
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

/** A value for every member, the ones without a limit included. */
type Complete<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/** What holds for a key at this moment. */
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

/** What the audit shall say of a call besides who made it. */
export interface AuditFacts {
  readonly risk?: string;
  readonly approvalId?: number;
  /** How a person at the client has agreed. Nobody takes it for an approval. */
  readonly consent?: string;
}

/** One call of an AI key. Changes it makes are audited with what is known of the call. */
export interface AiCaller extends Visitor {
  /** The owner of the key. */
  readonly userId: number;
  /** The integers of the owner's group. */
  readonly permissions: ReadonlySet<number>;
  readonly key: AiKeyFacts;
  readonly transport: 'rest' | 'mcp';
  /** Of the header or the body, whichever the client used. */
  readonly idempotencyKey: string | undefined;
  /** What is left of the limits on requests. */
  remaining(): Record<string, number>;
  /** Names what the audit shall say besides: risk, approval. */
  noteAudit(facts: AuditFacts): void;
}
