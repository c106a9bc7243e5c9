import type { AiCaller } from '../../caller.ts';
import { createKeyedQueue } from '../../concurrency/keyed-queue.ts';
import { one } from '../../crud.ts';
import { ApiError } from '../../errors.ts';
import {
  type ApprovalRecord,
  aiApprovals,
  approvalView,
  confirmedUnder,
  findByToken,
} from '../../store/ai/ai-approvals.ts';
import type { Change } from '../../store/engine/change.ts';
import { assertOpen, modeFor } from '../keys/policy.ts';
import { assertScope } from '../keys/scopes.ts';
import { isWellFormed, tokenHash } from '../keys/token.ts';
import { assertAffordable } from './approval-budget.ts';
import type { Prepared, Request } from './approval-plan.ts';
import { keyMismatch, refusalOf, taskChanged, unknownToken } from './approval-refusal.ts';
import { originOf, type RequestDeps, scopeOf } from './approval-request.ts';
import { type Standing, standingOf } from './approval-state.ts';
import { digestOf } from './digest.ts';
import { changesBetween } from './digest-subject.ts';
import type { TaskAction } from './risk.ts';

export interface Confirming {
  readonly family: 'start' | 'actions';
  readonly approvalToken: string;
  readonly idempotencyKey?: string | undefined;
}

/** The steps of a confirmation, for crash tests. */
export const confirmSteps = ['prepared', 'found', 'unchanged', 'executed', 'used', 'committed'] as const;
export type ConfirmStep = (typeof confirmSteps)[number];

export interface ConfirmDeps extends RequestDeps {
  /** Called at every step; used by tests. */
  readonly onStep?: ((step: ConfirmStep) => void) | undefined;
}

/** The record changed before the transaction: read it again. */
class LookAgain extends Error {}

type Outcome = { readonly refusal: ApiError } | { readonly reply: ReturnType<typeof replyOf> };
type Settled = { readonly prepared: Prepared } | { readonly error: unknown } | undefined;

const replyOf = (record: ApprovalRecord) => one({ approval: approvalView(record), ...(record.result ?? {}) });

export const actionOf = ({ action }: Pick<ApprovalRecord, 'action'>) => action.replace(/^task\./, '') as TaskAction;

export const requestOf = (record: ApprovalRecord): Request => ({
  action: actionOf(record),
  taskIds: record.taskIds,
  params: record.params as Request['params'],
  reason: record.reason,
});

const attempts = 5;
const isOutrun = (error: unknown) =>
  error instanceof LookAgain || (error instanceof ApiError && error.code === 'STALE_OBJECT');

const prepared = async ({ prepare }: ConfirmDeps, caller: AiCaller, record: ApprovalRecord): Promise<Settled> => {
  try {
    return { prepared: await prepare(caller, requestOf(record)) };
  } catch (error) {
    return { error };
  }
};

const end = async (
  { bus }: ConfirmDeps,
  tx: Change,
  record: ApprovalRecord,
  state: 'expired' | 'revoked',
  stateReason: string | null,
) => {
  await aiApprovals.update(tx, record.id, { state, stateReason });
  tx.afterCommit(() => bus.publish('approval.changed', { id: record.id }));
};

/** What changed since the request; empty when the digest is equal. */
const changesOf = async (
  { rules, subjectOf }: ConfirmDeps,
  tx: Change,
  { key }: AiCaller,
  record: ApprovalRecord,
  settled: Settled,
) => {
  const risk = settled && 'prepared' in settled ? settled.prepared.judgement.risk : (record.risk as 'R2');
  const policy = { class: risk, mode: modeFor(risk, key.policy, rules()), version: key.policy.version };
  const { action, params, taskIds } = requestOf(record);
  const subject = await subjectOf(tx, { action, params: { ...params }, keyId: key.id, taskIds, policy });
  return digestOf(subject) === record.digest ? undefined : changesBetween(record.subject, subject);
};

const use = async (
  { execute, onStep = () => {}, bus }: ConfirmDeps,
  tx: Change,
  caller: AiCaller,
  record: ApprovalRecord,
  work: Work,
) => {
  const executed = await execute(tx, caller, requestOf(record), work.prepared);
  onStep('executed');
  const { result } = executed;
  await aiApprovals.update(tx, record.id, {
    ...{ state: 'used', usedAt: tx.now, result, ...work.prepared.cost },
    ...(work.idempotencyKey !== undefined && { confirmKey: work.idempotencyKey }),
    ...{ runIDs: [...executed.runIDs], restarting: [...executed.restarting] },
  });
  tx.afterCommit(() => bus.publish('approval.changed', { id: record.id }));
  onStep('used');
  return { reply: replyOf((await aiApprovals.find(tx, record.id)) as ApprovalRecord) };
};

/** The state of an approval for the holder of its token; nothing while the gateway is disabled. */
const admit = ({ rules }: ConfirmDeps, caller: AiCaller, record: ApprovalRecord, nowMs: number) => {
  assertScope(caller.key, scopeOf(actionOf(record)));
  caller.noteAudit({ risk: record.risk, approvalId: record.id });
  assertOpen(record.risk as 'R2', rules(), nowMs);
};

const replay = (caller: AiCaller, record: ApprovalRecord) => {
  caller.setHeader('idempotent-replayed', 'true');
  return replyOf(record);
};

/** From here on everything sees one state of the store, locked until the commit. */
const settle = async (
  deps: ConfirmDeps,
  tx: Change,
  caller: AiCaller,
  request: LoadRequest,
  settled: Settled,
): Promise<Outcome> => {
  const { onStep = () => {} } = deps;
  const record = await findByToken(tx, request.hash);
  const { family, idempotencyKey } = request;
  const standing = standingOf(record, { keyId: caller.key.id, family, idempotencyKey, nowMs: Date.parse(tx.now) });
  if (record !== undefined && standing !== 'unknown') {
    tx.note({ approvalId: record.id, risk: record.risk, policy: record.policy });
    admit(deps, caller, record, Date.parse(tx.now));
  }
  if (standing === 'replay' && record !== undefined) return { reply: replay(caller, record) };
  if (standing !== 'ready' || record === undefined) {
    if (standing === 'expired' && record?.state === 'pending') await end(deps, tx, record, 'expired', null);
    return refuse(tx, refusalOf(standing as 'used', record, deps.addressFor(caller.header('host'))));
  }
  if (settled === undefined) throw new LookAgain();
  onStep('found');
  return carryOut(deps, tx, caller, record, { idempotencyKey, settled });
};

const carryOut = async (
  deps: ConfirmDeps,
  tx: Change,
  caller: AiCaller,
  record: ApprovalRecord,
  { idempotencyKey, settled }: { idempotencyKey: string | undefined; settled: NonNullable<Settled> },
): Promise<Outcome> => {
  const { onStep = () => {} } = deps;
  const { family } = record;
  if (idempotencyKey !== undefined) {
    const other = await confirmedUnder(tx, { keyID: record.keyID, family, confirmKey: idempotencyKey });
    if (other !== undefined) return refuse(tx, keyMismatch());
  }
  const changed = await changesOf(deps, tx, caller, record, settled);
  if (changed !== undefined) {
    await end(deps, tx, record, 'revoked', 'task_changed');
    return refuse(tx, taskChanged(record, changed));
  }
  onStep('unchanged');
  if ('error' in settled) throw settled.error;
  await assertAffordable(tx, caller.key, settled.prepared.cost, record.taskIds);
  return use(deps, tx, caller, record, { prepared: settled.prepared, idempotencyKey });
};

/** The answer for a final approval, which needs no transaction. Undefined for others. */
const answerOfOver = (deps: ConfirmDeps, caller: AiCaller, record: ApprovalRecord | undefined, standing: Standing) => {
  if (record === undefined || record.state === 'pending' || standing === 'unknown') return undefined;
  admit(deps, caller, record, Date.now());
  if (standing === 'replay') return replay(caller, record);
  throw refusalOf(standing as 'used', record, deps.addressFor(caller.header('host')));
};

const attempt = async (deps: ConfirmDeps, caller: AiCaller, request: LoadRequest) => {
  const { store, onStep = () => {} } = deps;
  const seen = await findByToken(store.read, request.hash);
  const { family, idempotencyKey } = request;
  const standing = standingOf(seen, { keyId: caller.key.id, family, idempotencyKey, nowMs: Date.now() });
  const over = answerOfOver(deps, caller, seen, standing);
  if (over !== undefined) return over;
  const settled = seen !== undefined && standing === 'ready' ? await prepared(deps, caller, seen) : undefined;
  onStep('prepared');
  const outcome = await store.change(originOf(caller), (tx) => settle(deps, tx, caller, request, settled));
  onStep('committed');
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.reply;
};

const attemptOften = async (deps: ConfirmDeps, caller: AiCaller, request: LoadRequest) => {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt(deps, caller, request);
    } catch (error) {
      if (!isOutrun(error) || count >= attempts) throw error;
    }
  }
};

/**
 * Executes the requested action exactly once. The token's use, the queued run, the audit entry and the answer
 * are one transaction, and transactions are serial: under any race or crash, the token is
 * used if and only if the run exists.
 */
export const createConfirm = (deps: ConfirmDeps) => {
  const confirmations = createKeyedQueue<string>();
  return async (caller: AiCaller, { family, approvalToken, idempotencyKey }: Confirming) => {
    if (!isWellFormed(approvalToken)) throw unknownToken();
    const hash = tokenHash(approvalToken);
    return confirmations.run(hash, () => attemptOften(deps, caller, { hash, family, idempotencyKey }));
  };
};

interface LoadRequest {
  readonly hash: string;
  readonly family: string;
  readonly idempotencyKey: string | undefined;
}

interface Work {
  readonly prepared: Prepared;
  readonly idempotencyKey: string | undefined;
}

/** A refusal whose changes to the approval are committed. */
const refuse = (tx: Change, refusal: ApiError): Outcome => {
  tx.deny({ code: refusal.code });
  return { refusal };
};
