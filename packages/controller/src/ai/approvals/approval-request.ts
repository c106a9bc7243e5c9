import type { Approval } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import type { AiCaller } from '../../caller.ts';
import { one } from '../../crud.ts';
import { conflict } from '../../errors.ts';
import {
  type ApprovalRecord,
  aiApprovals,
  approvalUsage,
  approvalView,
  findByRequestKey,
} from '../../store/ai/ai-approvals.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Store } from '../../store/store.ts';
import { notify } from '../../store/system/notifications.ts';
import { type AiRules, assertOpen, decisionsFor, expiryOf, modeFor } from '../keys/policy.ts';
import { assertScope } from '../keys/scopes.ts';
import { newNonce, tokenHash, tokenOf } from '../keys/token.ts';
import { assertAffordable, assertMayAsk } from './approval-budget.ts';
import type { Execute } from './approval-execute.ts';
import type { Prepared, RecordImporter, Request } from './approval-plan.ts';
import { type AddressFor, keyMismatch, reviewUrlOf } from './approval-refusal.ts';
import { approvalsIn } from './approval-state.ts';
import { visibleTask } from './approval-tasks.ts';
import { digestOf } from './digest.ts';
import { type createSubjects, revisionOf } from './digest-subject.ts';

export interface Asking extends Request {
  readonly expectedRevision?: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface RequestDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly rules: () => AiRules;
  readonly prepare: RecordImporter;
  readonly execute: Execute;
  readonly subjectOf: ReturnType<typeof createSubjects>;
  readonly addressFor: AddressFor;
}

export const familyOf = (action: string) => (action === 'start' ? 'start' : 'actions');

/** A separate transaction: its answer is stored with the approval, not under the idempotency key of the request. */
export const originOf = ({ userId, address, requestId, operation, audit }: AiCaller) => ({
  ...{ userId, address, requestId, operation, audit },
});

export const scopeOf = (action: string) =>
  action === 'start' ? 'tasks:start' : action === 'delete' ? 'tasks:delete' : 'tasks:control';

type Decided = Pick<Approval, 'id' | 'action' | 'state' | 'policy' | 'decisions' | 'requiredDecisions'>;

/** What the key does next. */
export const nextStepOf = (approval: Decided) => {
  const { id, action, state, policy, requiredDecisions } = approval;
  const kind = action === 'task.start' ? 'task_start' : 'task_action';
  if (state === 'used') return 'Done. Watch it with task_status.';
  if (state !== 'pending')
    return `It is ${state}: nothing will happen. Ask again with ${kind}_request if it is still wanted.`;
  const tool = `${kind}_confirm`;
  return policy === 'human' && approvalsIn(approval) < requiredDecisions
    ? `Ask a person to open reviewUrl. Poll approval_get of ${id} with wait=30, then call ${tool} with approvalToken.`
    : `Call ${tool} with approvalToken before it expires.`;
};

const answerOf = ({ store, addressFor }: RequestDeps, caller: AiCaller, record: ApprovalRecord) => {
  const isPending = record.state === 'pending';
  const isHuman = record.policy === 'human';
  const approval = approvalView(record) as Approval;
  return one({
    approval,
    ...(isPending && { approvalToken: tokenOf(store.secrets, record.id, record.nonce) }),
    ...(isPending && isHuman && { reviewUrl: reviewUrlOf(addressFor(caller.header('host')), record.id) }),
    nextStep: nextStepOf(approval),
    ...(record.state === 'used' && (record.result as { task?: Record<string, unknown> })),
  });
};

/** The stored answer of the same request; a different request under the same key is refused. */
const replay = async (deps: RequestDeps, executor: Store['read'], caller: AiCaller, asking: Asking) => {
  const { idempotencyKey, action } = asking;
  if (idempotencyKey === undefined) return undefined;
  const family = familyOf(action);
  const found = await findByRequestKey(executor, { keyID: caller.key.id, family, idempotencyKey });
  if (found === undefined) return undefined;
  if (found.requestFingerprint !== fingerprintOf(asking)) throw keyMismatch();
  caller.setHeader('idempotent-replayed', 'true');
  return answerOf(deps, caller, found);
};

const insert = async (
  { rules, subjectOf, store }: RequestDeps,
  tx: Change,
  caller: AiCaller,
  asking: Asking,
  prepared: Prepared,
) => {
  const { key } = caller;
  const { action, params, reason, idempotencyKey } = asking;
  const { risk } = prepared.judgement;
  const mode = modeFor(risk, key.policy, rules());
  const policy = { class: risk, mode, version: key.policy.version };
  const taskIds = [...asking.taskIds].sort((a, b) => a - b);
  const subject = await subjectOf(tx, { action, params, keyId: key.id, taskIds, policy });
  const nonce = newNonce();
  const id = await aiApprovals.insert(tx, {
    ...{ keyID: key.id, ownerID: caller.userId, family: familyOf(action), action: `task.${action}`, taskIds, params },
    ...{ risk, policy: mode, state: 'pending', requiredDecisions: decisionsFor(mode, key.policy), decisions: [] },
    ...{ preventSelfApproval: key.policy.preventSelfApproval, digest: digestOf(subject), subject, reason, nonce },
    ...{ plan: prepared.plan, ...prepared.cost, runIDs: [], restarting: [], tokenHash: nonce },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    requestFingerprint: fingerprintOf(asking),
    expiresAt: expiryOf(mode, key.policy, Date.parse(tx.now)),
  });
  await aiApprovals.update(tx, id, { tokenHash: tokenHash(tokenOf(store.secrets, id, nonce)) });
  return { id, mode };
};

const askPeople = ({ bus }: RequestDeps, tx: Change, { key }: AiCaller, id: number, { plan, judgement }: Prepared) =>
  notify(tx, bus, {
    severity: 'warning',
    kind: 'ai.approval',
    message: `key "${key.name}" asks: ${plan.summary} (${judgement.risk})`,
    entity: { type: 'approval', id },
    audience: { permission: 'aiAdmin.decide' },
  });

const record = async (deps: RequestDeps, tx: Change, caller: AiCaller, asking: Asking, prepared: Prepared) => {
  const { rules, execute, bus } = deps;
  const before = await replay(deps, tx, caller, asking);
  if (before !== undefined) return before;
  const { risk } = prepared.judgement;
  assertOpen(risk, rules(), Date.parse(tx.now));
  const willWait = modeFor(risk, caller.key.policy, rules()) !== 'auto';
  if (risk !== 'RS') assertMayAsk(caller.key, await approvalUsage(tx, caller.key.id, tx.now), willWait);
  await assertAffordable(tx, caller.key, prepared.cost, asking.taskIds);
  const { id, mode } = await insert(deps, tx, caller, asking, prepared);
  caller.noteAudit({ risk, approvalId: id });
  tx.note({ approvalId: id, risk, policy: mode, reason: asking.reason });
  if (mode === 'auto') {
    const { result, runIDs, restarting } = await execute(tx, caller, asking, prepared);
    const used = { state: 'used', usedAt: tx.now, result, runIDs: [...runIDs], restarting: [...restarting] };
    await aiApprovals.update(tx, id, used);
  } else if (mode === 'human') await askPeople(deps, tx, caller, id, prepared);
  tx.afterCommit(() => bus.publish('approval.changed', { id }));
  return answerOf(deps, caller, (await aiApprovals.find(tx, id)) as ApprovalRecord);
};

/** Requests an action: assessed, recorded, and executed at once if the policy allows it. */
export const createRequest = (deps: RequestDeps) => {
  const { store, prepare } = deps;

  return async (caller: AiCaller, asking: Asking) => {
    assertScope(caller.key, scopeOf(asking.action));
    const before = await replay(deps, store.read, caller, asking);
    if (before !== undefined) return before;
    if (asking.expectedRevision !== undefined) {
      const [id = 0] = asking.taskIds;
      const revision = revisionOf(await visibleTask(store.read, caller, id));
      if (revision !== asking.expectedRevision) {
        throw conflict('REVISION_MISMATCH', `task ${id} has another revision`, { id, revision, retryable: false });
      }
    }
    const prepared = await prepare(caller, asking);
    return store.change(originOf(caller), (tx) => record(deps, tx, caller, asking, prepared));
  };
};

const fingerprintOf = ({ action, taskIds, params, reason, expectedRevision }: Asking) =>
  digestOf({ action, taskIds, params, reason, expectedRevision });
