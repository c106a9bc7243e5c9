import type { AiOperation, Route } from '@rushhour/contract';
import type { AiCaller, AuditFacts } from '../../caller.ts';
import type { Origin } from '../../store/engine/change.ts';
import { StorageUnavailable } from '../../store/engine/database.ts';
import { digestOf } from '../approvals/digest.ts';
import type { Authenticated } from '../keys/authenticate.ts';
import type { Limits } from '../keys/limits.ts';
import { auditUnavailable } from './audit.ts';
import type { Redactor } from './redact.ts';

/** A request as seen by its transport. */
export interface Visit {
  readonly operation: string;
  readonly requestId: string;
  readonly address: string;
  readonly transport: 'rest' | 'mcp';
  readonly signal: AbortSignal;
  readonly mcpClient?: { name: string; version: string } | undefined;
  header(name: string): string | undefined;
  setHeader(name: string, value: string): void;
}

const maxArgBytes = 4096;
/** Readers of the audit must not be able to confirm. */
const handedIn: ReadonlySet<string> = new Set(['approvalToken']);

/** One call of a key, from its admission to its entry in the audit. */
export class AiCall implements AiCaller {
  readonly operation: string;
  readonly requestId: string;
  readonly address: string;
  readonly transport: 'rest' | 'mcp';
  readonly key: AiCaller['key'];
  readonly permissions: ReadonlySet<number>;
  readonly refreshToken = undefined;
  readonly lastEventId = undefined;
  readonly ai: AiOperation;
  /** The request behind the call. */
  readonly visit: Visit;
  idempotency: Origin['idempotency'];
  idempotencyKey: string | undefined;
  isAudited = false;
  isCounted = false;
  #limits: Limits;
  #redactor: Redactor;
  #startedMs = performance.now();
  #arguments: unknown;
  #facts: AuditFacts = {};

  constructor(visit: Visit, route: Route, who: Authenticated, tools: { limits: Limits; redactor: Redactor }) {
    this.operation = visit.operation;
    this.requestId = visit.requestId;
    this.address = visit.address;
    this.transport = visit.transport;
    this.key = who.key;
    this.permissions = who.permissions;
    this.ai = route.ai as AiOperation;
    this.visit = visit;
    this.#limits = tools.limits;
    this.#redactor = tools.redactor;
  }

  get userId() {
    return this.key.owner.id;
  }
  get signal() {
    return this.visit.signal;
  }
  /** Time since the call was admitted. */
  get ageMs() {
    return performance.now() - this.#startedMs;
  }
  get isRead() {
    return this.ai.risk === 'R0';
  }
  header(name: string) {
    return this.visit.header(name);
  }
  setHeader(name: string, value: string) {
    this.visit.setHeader(name, value);
  }
  setSession() {
    throw new Error('a key has no session');
  }
  async caller() {
    return undefined;
  }
  remaining() {
    return this.#limits.remaining(this.key);
  }
  noteAudit(facts: AuditFacts) {
    this.#facts = { ...this.#facts, ...facts };
  }
  noteArguments(parts: unknown) {
    this.#arguments = parts;
  }

  /** For writes: the audit entry of the transaction is the entry of the call. */
  readonly audit = {
    detail: () => this.#detail({ decision: 'allow', httpStatus: 200 }),
    written: () => {
      this.isAudited = true;
    },
    unwritable: (cause: unknown) =>
      cause instanceof StorageUnavailable ? cause : Object.assign(auditUnavailable(), { cause }),
  };

  /** The entry of a call that changed nothing. */
  entry({ status, code }: { status: number; code?: string | undefined }) {
    const isDenied = status >= 400;
    return {
      at: new Date().toISOString(),
      userID: this.userId,
      address: this.address,
      requestId: this.requestId,
      operation: this.operation,
      outcome: status >= 500 ? ('failed' as const) : isDenied ? ('denied' as const) : ('ok' as const),
      targets: {},
      detail: this.#detail({ decision: isDenied ? 'deny' : 'allow', httpStatus: status, code }),
    };
  }

  #detail(outcome: { decision: string; httpStatus: number; code?: string | undefined }) {
    const redacted = JSON.stringify(this.#redactor.redact(this.#arguments ?? {}, handedIn));
    return {
      ai: {
        keyId: this.key.id,
        transport: this.transport,
        userAgent: (this.header('user-agent') ?? '').slice(0, 256),
        ...(this.visit.mcpClient && { mcpClient: this.visit.mcpClient }),
        argsRedacted:
          redacted.length <= maxArgBytes ? JSON.parse(redacted) : { truncated: redacted.slice(0, maxArgBytes) },
        argsDigest: digestOf(JSON.parse(redacted)),
        risk: this.ai.risk,
        policyVersion: this.key.policy.version,
        ...this.#facts,
        durationMs: Math.round((performance.now() - this.#startedMs) * 10) / 10,
        ...outcome,
      },
    };
  }
}
