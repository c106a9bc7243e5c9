import { ApiError, conflict, forbidden } from '../../errors.ts';
import type { ApprovalRecord } from '../../store/ai/ai-approvals.ts';
import type { Standing } from './approval-state.ts';

/** One answer for tokens that do not exist, belong to another key or to another operation. */
export const unknownToken = () =>
  new ApiError('notFound', 'TOKEN_NOT_FOUND', 'there is no such approval token', {
    retryable: false,
    hint: 'ask again with task_start_request or task_action_request',
  });

export const keyMismatch = () =>
  conflict('IDEMPOTENCY_KEY_MISMATCH', 'the Idempotency-Key is not the one this request is bound to', {
    retryable: false,
    hint: 'repeat the Idempotency-Key that the request was made with',
  });

const expired = ({ id, expiresAt }: ApprovalRecord) =>
  new ApiError('gone', 'TOKEN_EXPIRED', `the approval token expired at ${expiresAt}`, {
    approvalId: id,
    retryable: false,
    hint: 'ask again',
  });

const stateOf = ({ id, state, stateReason }: ApprovalRecord) => ({
  approvalId: id,
  state,
  stateReason,
  retryable: false,
});

/** Where the controller is for people beside the key, by the Host header of its request. */
export type AddressFor = (host: string | undefined) => string;

export const reviewUrlOf = (address: string, id: number) => `${address}/approvals/${id}`;

const undecided = ({ id, requiredDecisions }: ApprovalRecord, address: string) =>
  forbidden('HUMAN_APPROVAL_REQUIRED', `${requiredDecisions} people must approve this first`, {
    approvalId: id,
    retryable: true,
    reviewUrl: reviewUrlOf(address, id),
    hint: `ask a person to open reviewUrl, poll approval_get of ${id}, then confirm again`,
  });

/** The refusal of a confirmation that stops here. */
export const refusalOf = (
  standing: Exclude<Standing, 'ready' | 'replay'>,
  record: ApprovalRecord | undefined,
  address: string,
) => {
  if (standing === 'unknown' || record === undefined) return unknownToken();
  if (standing === 'used')
    return conflict('TOKEN_ALREADY_USED', 'the approval token has already been used', stateOf(record));
  if (standing === 'notPending') {
    return conflict('TOKEN_NOT_PENDING', `the approval was ${record.state}`, stateOf(record));
  }
  if (standing === 'expired') return expired(record);
  return standing === 'keyMismatch' ? keyMismatch() : undecided(record, address);
};

export const taskChanged = (record: ApprovalRecord, changed: readonly string[]) =>
  conflict('TASK_CHANGED', 'the task was changed after the request', {
    approvalId: record.id,
    changed,
    retryable: false,
    hint: 'look at the task with task_get and ask again',
  });
