import { ApiError } from '../../errors.ts';
import { StorageUnavailable } from '../../store/engine/database.ts';

const hints: Record<string, string> = {
  AI_KEY_MISSING: 'Send the key in the header X-API-Key or as a bearer token.',
  AI_KEY_INVALID: 'Ask an administrator for a valid key.',
  AI_SCOPE_MISSING: 'Call whoami for the scopes of this key; ask an administrator for more.',
  AI_CONSTRAINT: 'Call whoami for the constraints of this key.',
  AI_GATEWAY_DISABLED: 'An administrator has switched the gateway off. Do not retry.',
  INVALID_REQUEST: 'data.issues names every problem; schema_get tells what is allowed.',
  NOT_FOUND: 'List what there is: tasks_list, agents_list, resources_search, drafts_list, approvals_list.',
  NO_SUCH_PATH: 'Leave `path` out to see what there is.',
  RATE_LIMITED: 'Wait as long as Retry-After says.',
  BUDGET_EXCEEDED:
    'Budgets count the last 24 hours: whoami tells what is left. Do not retry before older runs are a day old.',
  APPROVAL_QUOTA: 'Wait, or cancel approvals that are not needed: approvals_list, approval_cancel.',
  IDEMPOTENCY_KEY_MISMATCH: 'Use a new idempotency key for another request.',
  AUDIT_UNAVAILABLE: 'Nothing is executed that cannot be audited. Retry later.',
};
const retryableKinds: ReadonlySet<string> = new Set(['tooMany', 'unavailable', 'timeout']);

/** The same error with advice for a model: what to do next, and whether trying again can help. */
export const advised = (error: unknown): unknown => {
  if (error instanceof StorageUnavailable)
    return advised(new ApiError('unavailable', 'STORAGE_UNAVAILABLE', error.message, { retryAfterSec: 1 }));
  if (!(error instanceof ApiError)) return error;
  const { kind, code, message, data } = error;
  return new ApiError(kind, code, message, {
    retryable: retryableKinds.has(kind),
    hint: hints[code] ?? 'See the sentence in `error`.',
    ...data,
  });
};
