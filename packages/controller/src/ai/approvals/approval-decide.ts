import type { Approval } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import type { Caller } from '../../caller.ts';
import { ApiError, conflict, forbidden, invalid, orNotFound } from '../../errors.ts';
import { type ApprovalRecord, aiApprovals, approvalView } from '../../store/ai/ai-approvals.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Store } from '../../store/store.ts';
import { expiryOf } from '../keys/policy.ts';
import { actionOf } from './approval-confirm.ts';
import { approvalsIn, isExpired } from './approval-state.ts';
import { digestOf } from './digest.ts';
import type { createSubjects } from './digest-subject.ts';

export interface Decision {
  readonly array: readonly number[];
  readonly decision: 'approve' | 'reject' | 'revoke';
  readonly comment?: string | undefined;
  readonly digests?: Readonly<Record<string, string>> | undefined;
}

interface Deps {
  readonly store: Store;
  readonly bus: Bus;
  readonly subjectOf: ReturnType<typeof createSubjects>;
  /** Has this user entered their password recently? */
  isFresh(caller: Caller): Promise<boolean>;
}

const gone = ({ id, expiresAt }: ApprovalRecord) =>
  new ApiError('gone', 'APPROVAL_EXPIRED', `approval ${id} expired at ${expiresAt}`, { id });

const assertPending = (record: ApprovalRecord, nowMs: number) => {
  if (record.state === 'expired' || (record.state === 'pending' && isExpired(record, nowMs))) throw gone(record);
  if (record.state !== 'pending') {
    throw conflict('APPROVAL_NOT_PENDING', `approval ${record.id} is ${record.state}`, { id: record.id });
  }
};

const assertMayApprove = (record: ApprovalRecord, userId: number) => {
  const { id, preventSelfApproval, ownerID, decisions, policy } = record;
  if (policy !== 'human') throw conflict('APPROVAL_NOT_NEEDED', `approval ${id} needs no decision`, { id });
  if (preventSelfApproval && ownerID === userId) {
    throw forbidden('SELF_APPROVAL', `approval ${id} was requested by one of your keys: another user must decide`, {
      id,
    });
  }
  if (decisions.some(({ userID }) => userID === userId)) {
    throw conflict('ALREADY_DECIDED', `you have already decided about approval ${id}`, { id });
  }
};

const isUnchanged = async ({ subjectOf }: Deps, tx: Change, record: ApprovalRecord) => {
  const { subject, taskIds, keyID: keyId } = record;
  const { params, policy } = subject as { params: Record<string, unknown>; policy: Approval['policy'] };
  const now = await subjectOf(tx, { action: actionOf(record), params, keyId, taskIds, policy: policy as never });
  return digestOf(now) === record.digest;
};

const approve = async (
  deps: Deps,
  tx: Change,
  record: ApprovalRecord,
  { comment = '', digests = {} }: Decision,
  userId: number,
) => {
  assertMayApprove(record, userId);
  const { id } = record;
  if (digests[id] !== record.digest) {
    throw conflict('DIGEST_MISMATCH', `approval ${id} differs from what you were shown`, {
      id,
      digest: record.digest,
    });
  }
  if (!(await isUnchanged(deps, tx, record))) return 'changed' as const;
  const decisions = [...record.decisions, { userID: userId, decision: 'approve' as const, comment, at: tx.now }];
  const isUnlocked = approvalsIn({ decisions }) >= record.requiredDecisions;
  const expiresAt = isUnlocked ? expiryOf('human', {}, Date.parse(tx.now), true) : record.expiresAt;
  await aiApprovals.update(tx, id, { decisions, expiresAt });
  return 'done' as const;
};

const refuse = async (tx: Change, record: ApprovalRecord, { decision, comment = '' }: Decision, userId: number) => {
  const state = decision === 'reject' ? 'rejected' : 'revoked';
  const decisions =
    decision === 'reject'
      ? [...record.decisions, { userID: userId, decision: 'reject' as const, comment, at: tx.now }]
      : record.decisions;
  await aiApprovals.update(tx, record.id, {
    ...{ state, decisions, stateReason: decision === 'reject' ? comment || 'rejected' : 'admin_revoked' },
  });
  return 'done' as const;
};

const decideOne = async (deps: Deps, tx: Change, id: number, decision: Decision, userId: number) => {
  const { bus } = deps;
  const record = await orNotFound(aiApprovals.find(tx, id), 'approval', id);
  assertPending(record, Date.parse(tx.now));
  const outcome =
    decision.decision === 'approve'
      ? await approve(deps, tx, record, decision, userId)
      : await refuse(tx, record, decision, userId);
  if (outcome === 'changed') await aiApprovals.update(tx, id, { state: 'revoked', stateReason: 'task_changed' });
  tx.afterCommit(() => bus.publish('approval.changed', { id }));
  return outcome;
};

const assertFresh = async ({ store, isFresh }: Deps, caller: Caller, { array, decision }: Decision) => {
  if (decision !== 'approve') return;
  const asked = await aiApprovals.findMany(store.read, array);
  if (asked.every(({ risk }) => risk !== 'R3') || (await isFresh(caller))) return;
  throw forbidden('REAUTHENTICATION_REQUIRED', 'sign in again: hazardous requests need a recent sign-in');
};

/** User decisions on key requests. An approval unlocks the token; the key still has to confirm. */
export const createDecide = (deps: Deps) => {
  const { store } = deps;

  return async ({ body: decision }: { body: Decision }, caller: Caller) => {
    if (decision.decision === 'approve' && decision.digests === undefined) {
      throw invalid([{ path: '/digests', code: 'REQUIRED', message: 'must contain the digests you were shown' }]);
    }
    await assertFresh(deps, caller, decision);
    const { decided, changed } = await store.change(caller, async (tx) => {
      tx.note({ decision: decision.decision, approvalIds: decision.array, comment: decision.comment ?? '' });
      const changed: number[] = [];
      for (const id of decision.array) {
        if ((await decideOne(deps, tx, id, decision, caller.userId)) === 'changed') changed.push(id);
      }
      return { changed, decided: await aiApprovals.findMany(tx, decision.array) };
    });
    const [first] = changed;
    if (first !== undefined) {
      throw conflict('TASK_CHANGED', `the task of approval ${first} was changed: it is revoked`, { ids: changed });
    }
    return { data: decided.map(approvalView).map(({ id, state, decisions }) => ({ id, state, decisions })) };
  };
};
