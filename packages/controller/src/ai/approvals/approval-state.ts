import type { ApprovalRecord } from '../../store/ai/ai-approvals.ts';

export type RevocationReason =
  | 'cancelled'
  | 'admin_revoked'
  | 'key_disabled'
  | 'owner_blocked'
  | 'gateway_disabled'
  | 'task_deleted'
  | 'task_changed';

export const approvalsIn = ({ decisions }: Pick<ApprovalRecord, 'decisions'>) =>
  new Set(decisions.filter(({ decision }) => decision === 'approve').map(({ userID }) => userID)).size;

export const isExpired = ({ expiresAt }: Pick<ApprovalRecord, 'expiresAt'>, nowMs: number) =>
  nowMs >= Date.parse(expiresAt);

export interface Confirmation {
  readonly keyId: number;
  readonly family: string;
  readonly idempotencyKey: string | undefined;
  readonly nowMs: number;
}

/** The checks of a confirmation before the task itself. */
export type Standing = 'unknown' | 'replay' | 'used' | 'notPending' | 'expired' | 'keyMismatch' | 'undecided' | 'ready';

type Facts = Pick<
  ApprovalRecord,
  | 'keyID'
  | 'family'
  | 'state'
  | 'confirmKey'
  | 'idempotencyKey'
  | 'expiresAt'
  | 'policy'
  | 'requiredDecisions'
  | 'decisions'
>;

/** The first obstacle to a confirmation, in the order in which it is reported. */
export const standingOf = (record: Facts | undefined, confirmation: Confirmation): Standing => {
  const { keyId, family, idempotencyKey, nowMs } = confirmation;
  if (record === undefined || record.keyID !== keyId || record.family !== family) return 'unknown';
  if (record.state === 'used') {
    return idempotencyKey !== undefined && record.confirmKey === idempotencyKey ? 'replay' : 'used';
  }
  if (record.state === 'expired') return 'expired';
  if (record.state !== 'pending') return 'notPending';
  if (isExpired(record, nowMs)) return 'expired';
  if (record.idempotencyKey !== null && record.idempotencyKey !== idempotencyKey) return 'keyMismatch';
  if (record.policy === 'human' && approvalsIn(record) < Math.max(1, record.requiredDecisions)) return 'undecided';
  return 'ready';
};
