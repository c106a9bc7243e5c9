import type { Route } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import type { AiCaller } from '../../caller.ts';
import { ApiError, forbidden, invalid, statusOf } from '../../errors.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { createBudgetAlert } from '../approvals/budget-alert.ts';
import { digestOf } from '../approvals/digest.ts';
import { type Authenticated, assertAddress, authenticate, invalidKey } from '../keys/authenticate.ts';
import { createBadKeyThrottle, createLimits } from '../keys/limits.ts';
import { assertOperation } from '../keys/scopes.ts';
import { advised } from './advice.ts';
import { AiAudit } from './audit.ts';
import { AiCall, type Visit } from './call.ts';
import { capped } from './economy.ts';
import { createRedactor } from './redact.ts';
import { sanitizeTree } from './sanitize.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  log: Pick<Logger, 'error'>;
  /** Runs a request at most once for each idempotency key. */
  once: <T>(store: Store, call: AiCall, key: string, body: unknown, run: () => Promise<T>) => Promise<T>;
}

export interface Parts {
  params?: unknown;
  query?: unknown;
  body?: unknown;
}
export type AiHandler = (request: object, caller: AiCaller) => unknown;

/** A call that waited longer is checked again before it answers. */
const longCallMs = 2000;
/** The key was accepted before: a refusal now is no attempt at guessing. */
const uncounted = { assertMayTry: () => {}, count: () => {} };

const createContext = (deps: Deps) => {
  const { store, log, bus } = deps;
  const limits = createLimits();
  const throttle = createBadKeyThrottle();
  const redactor = createRedactor(store.secrets);
  const audit = new AiAudit(store, log);
  const alert = createBudgetAlert(store, bus);
  return { ...deps, throttle, limits, redactor, audit, alert };
};
type Context = ReturnType<typeof createContext>;

/** The holder of the key may use the gateway at all. */
const identify = async ({ store, throttle, limits }: Context, visit: Visit) => {
  const who = await authenticate(store, throttle, visit);
  for (const [name, value] of Object.entries(limits.headersOf(who.key))) visit.setHeader(name, value);
  return who;
};

const assertOpen = ({ settings }: Context, { key }: Authenticated, address: string) => {
  if (!settings.current().ai.enabled) throw forbidden('AI_GATEWAY_DISABLED', 'the AI gateway is disabled');
  assertAddress(key, address);
};

/** Admits a connection for several calls. */
const enter = async (context: Context, visit: Visit) => {
  const who = await identify(context, visit);
  assertOpen(context, who, visit.address);
  return who;
};

/** Refuses when the key, its owner or the gateway lost the right to go on since `who` was admitted. */
const recheck = async (context: Context, visit: Pick<Visit, 'header' | 'address'>, who: Authenticated) => {
  const now = await authenticate(context.store, uncounted, visit);
  assertOpen(context, now, visit.address);
  if (now.key.effectiveScopes.size !== who.key.effectiveScopes.size) throw invalidKey();
};

/** Admits a call or refuses it with a reason. */
const admit = async (context: Context, visit: Visit, route: Route): Promise<AiCall> => {
  const { limits, redactor, audit } = context;
  const who = await identify(context, visit);
  const call = new AiCall(visit, route, who, { limits, redactor });
  try {
    assertOpen(context, who, call.address);
    assertOperation(call.key, call.ai);
    limits.take(call.key, !call.isRead);
    for (const [name, value] of Object.entries(limits.headersOf(call.key))) visit.setHeader(name, value);
    await audit.assertWritable(call.isRead);
  } catch (error) {
    await settle(context, call, error);
    throw advised(error);
  }
  return call;
};

const perform = async ({ once, store }: Context, call: AiCall, readParts: () => Parts, handler: AiHandler) => {
  const parts = readParts();
  call.noteArguments(parts);
  call.idempotencyKey = idempotencyKeyOf(call, parts);
  const work = async () => handler(parts, call);
  if (call.idempotencyKey === undefined || call.ai.risk === 'R0' || call.ai.risk === 'byPlan') return work();
  const key = `ai:${call.key.id}:${digestOf([call.operation, call.idempotencyKey])}`;
  return once(store, call, key, withoutKey(parts), work);
};

/** Executes a call and returns the redacted answer. */
const run = async (context: Context, call: AiCall, readParts: () => Parts, handler: AiHandler): Promise<unknown> => {
  const { limits, redactor, alert, log } = context;
  let leave: (() => void) | undefined;
  try {
    leave = limits.enter(call.key);
    const reply = capped(
      sanitizeTree(redactor.redact(await perform(context, call, readParts, handler)), Number.POSITIVE_INFINITY),
    );
    if (call.isRead && call.ageMs > longCallMs) await recheck(context, call.visit, call);
    if ((reply as { truncated?: boolean } | undefined)?.truncated) call.setHeader('x-truncated', 'true');
    await settle(context, call, undefined);
    if (call.ai.risk === 'byPlan') alert(call.key).catch((error) => log.error({ err: error }, 'budget alert'));
    return reply;
  } catch (error) {
    await settle(context, call, error);
    throw advised(error);
  } finally {
    leave?.();
  }
};

/** Audits the call, unless its own transaction has done so, and counts it. */
const settle = async (context: Context, call: AiCall, error: unknown) => {
  const { audit } = context;
  const status = error === undefined ? 200 : error instanceof ApiError ? statusOf[error.kind] : 500;
  countUse(context, call, status);
  if (call.isAudited) return;
  call.isAudited = true;
  const entry = call.entry({ status, code: error instanceof ApiError ? error.code : undefined });
  if (call.isRead) audit.enter(entry);
  else await audit.enterNow(entry);
};

const countUse = ({ audit }: Context, call: AiCall, status: number) => {
  if (call.isCounted) return;
  call.isCounted = true;
  const at = new Date().toISOString();
  const writes = call.isRead ? 0 : 1;
  const denials = status === 403 || status === 429 ? 1 : 0;
  audit.noteUse({
    ...{ keyID: call.key.id, day: at.slice(0, 10), at, address: call.address },
    ...{ requests: 1, writes, denials },
  });
};

/**
 * The pipeline of every AI key call, over REST and MCP: authenticate, scope, constraints, limits, idempotency,
 * validate, run, redact, audit.
 */
export const createPipeline = (deps: Deps) => {
  const context = createContext(deps);
  const { redactor, audit, limits } = context;

  return {
    enter: (visit: Visit) => enter(context, visit),
    recheck: (visit: Pick<Visit, 'header' | 'address'>, who: Authenticated) => recheck(context, visit, who),
    /** Counts a request of a connection that is no call of an operation. */
    count: ({ key }: Authenticated) => limits.take(key, false),
    admit: (visit: Visit, route: Route) => admit(context, visit, route),
    run: (call: AiCall, readParts: () => Parts, handler: AiHandler) => run(context, call, readParts, handler),
    settle: (call: AiCall, error: unknown) => settle(context, call, error),
    redactor,
    flush: () => audit.flush(),
    close: () => audit.close(),
  };
};

export type Pipeline = ReturnType<typeof createPipeline>;

const maxKeyLength = 255;

/** The client's idempotency key, from the header or the body. */
const idempotencyKeyOf = (call: AiCall, { body }: Parts): string | undefined => {
  const header = call.header('idempotency-key')?.replace(/^"(.*)"$/, '$1');
  const member = (body as { idempotencyKey?: string } | undefined)?.idempotencyKey;
  if (header !== undefined && (header === '' || header.length > maxKeyLength)) {
    const message = `must have 1 to ${maxKeyLength} characters`;
    throw invalid([{ path: '/Idempotency-Key', code: 'LENGTH', message, in: 'header' }]);
  }
  if (header !== undefined && member !== undefined && header !== member) {
    const message = 'differs from the header Idempotency-Key';
    throw invalid([{ path: '/idempotencyKey', code: 'AMBIGUOUS', message }]);
  }
  return header ?? member;
};

const withoutKey = ({ body, ...parts }: Parts) => {
  const { idempotencyKey: _, ...members } = (body ?? {}) as { idempotencyKey?: string };
  return { ...parts, body: members };
};
