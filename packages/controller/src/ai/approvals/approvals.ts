import type { Approval, ApprovalState } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import type { AiCaller, Caller } from '../../caller.ts';
import { cursorOf, one, pageRequestOf } from '../../crud.ts';
import { conflict, notFound } from '../../errors.ts';
import type { TaskPlanner } from '../../plan/core/create-planner.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import {
  type ApprovalRecord,
  aiApprovals,
  approvalView,
  forgetApprovals,
  pendingApprovals,
} from '../../store/ai/ai-approvals.ts';
import type { Change, Origin } from '../../store/engine/change.ts';
import type { Store } from '../../store/store.ts';
import { findTask } from '../../store/tasks/tasks.ts';
import type { AiRules } from '../keys/policy.ts';
import { type ConfirmDeps, createConfirm } from './approval-confirm.ts';
import { createDecide } from './approval-decide.ts';
import { createExecute } from './approval-execute.ts';
import { findOwner } from './approval-owner.ts';
import { createPrepare } from './approval-plan.ts';
import type { AddressFor } from './approval-refusal.ts';
import { createRequest, nextStepOf } from './approval-request.ts';
import { createRestarts } from './approval-restart.ts';
import { approvalsIn, isExpired, type RevocationReason } from './approval-state.ts';
import type { TaskOperations } from './approval-tasks.ts';
import { createSubjects, createTaskDigest } from './digest-subject.ts';

interface Wait {
  readonly id: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Can the key act now, or is there nothing left to wait for? */
const isDecided = ({ state, policy, requiredDecisions, decisions }: Approval) =>
  state !== 'pending' || policy !== 'human' || approvalsIn({ decisions }) >= requiredDecisions;

/** Reads after every possible change until there is a new decision or the time is up. */
const awaitApproval = async (
  bus: Bus,
  { id, waitMs, signal }: Wait,
  read: () => Promise<Approval>,
): Promise<Approval> => {
  const endsAt = Date.now() + waitMs;
  let news = Promise.withResolvers<void>();
  const wake = () => news.resolve();
  const leave = bus.subscribe('approval.changed', (event) => {
    if (event.id === id) wake();
  });
  signal.addEventListener('abort', wake, { once: true });
  const timer = setTimeout(wake, waitMs);
  try {
    const first = await read();
    const known = JSON.stringify(first);
    let seen = first;
    while (!isDecided(seen) && JSON.stringify(seen) === known && Date.now() < endsAt && !signal.aborted) {
      await news.promise;
      news = Promise.withResolvers();
      seen = await read();
    }
    return seen;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    leave();
  }
};

export interface ApprovalDeps {
  readonly store: Store;
  readonly bus: Bus;
  readonly runs: Pick<Runs, 'check' | 'enqueue' | 'stop' | 'pause' | 'resume' | 'changeLoad'>;
  readonly planner: TaskPlanner;
  readonly operations: TaskOperations;
  readonly rules: () => AiRules;
  readonly addressFor: AddressFor;
  /** Has this user entered their password recently? */
  isFresh(caller: Caller): Promise<boolean>;
  readonly onStep?: ConfirmDeps['onStep'];
}

const sweepOrigin: Origin = { userId: null, address: '', requestId: '', operation: 'aiGateway.sweep' };

/** An expired approval is shown as such even before it is marked. */
const viewAt = (record: ApprovalRecord, nowMs: number): Approval => {
  const view = approvalView(record);
  return record.state === 'pending' && isExpired(record, nowMs) ? { ...view, state: 'expired' } : view;
};

const findOwn = async (executor: Store['read'], { key }: AiCaller, id: number) => {
  const record = await aiApprovals.find(executor, id);
  if (record?.keyID !== key.id) throw notFound('approval', id);
  return record;
};

const end = async ({ bus }: ApprovalDeps, tx: Change, id: number, state: ApprovalState, stateReason: string | null) => {
  await aiApprovals.update(tx, id, { state, stateReason });
  tx.afterCommit(() => bus.publish('approval.changed', { id }));
};

/** Why a pending approval can no longer succeed. */
const endOf = async (
  { rules }: ApprovalDeps,
  tx: Change,
  record: ApprovalRecord,
): Promise<RevocationReason | 'expired' | undefined> => {
  if (isExpired(record, Date.parse(tx.now))) return 'expired';
  if (!rules().enabled) return 'gateway_disabled';
  if ((await findOwner(tx, record.ownerID)) === undefined) return 'owner_blocked';
  for (const id of record.taskIds) if ((await findTask(tx, id)) === undefined) return 'task_deleted';
  return undefined;
};

const cancelApproval =
  (deps: ApprovalDeps) =>
  (caller: AiCaller, id: number, reason = '') =>
    deps.store.change(caller, async (tx) => {
      const record = await findOwn(tx, caller, id);
      if (viewAt(record, Date.parse(tx.now)).state !== 'pending') {
        throw conflict('APPROVAL_NOT_PENDING', `approval ${id} is ${record.state}`, { id, state: record.state });
      }
      tx.note({ approvalId: id, reason });
      await end(deps, tx, id, 'revoked', 'cancelled');
      return one(approvalView((await aiApprovals.find(tx, id)) as ApprovalRecord));
    });

const listApprovals =
  ({ store }: ApprovalDeps) =>
  async ({ key }: AiCaller, query: ListQuery) => {
    const request = pageRequestOf(query, 'id');
    const filters = { ...request.filters, keyID: key.id };
    const { rows, total } = await aiApprovals.page(store.read, { ...request, filters });
    const now = Date.now();
    return { cursor: cursorOf(request.limit, request.offset, total), data: rows.map((row) => viewAt(row, now)) };
  };

/** Waits up to `waitMs` for news. */
const getApproval =
  ({ store, bus }: ApprovalDeps) =>
  async (caller: AiCaller, id: number, waitMs = 0) => {
    const read = async () => viewAt(await findOwn(store.read, caller, id), Date.now());
    const approval = await awaitApproval(bus, { id, waitMs, signal: caller.signal }, read);
    return one({ ...approval, nextStep: nextStepOf(approval) });
  };

/** Ends all pending approvals of a key in the transaction that disables or revokes it. */
const revokeForKey =
  (deps: ApprovalDeps) =>
  async (tx: Change, keyId: number, reason: RevocationReason = 'key_disabled') => {
    for (const { id, keyID } of await pendingApprovals(tx))
      if (keyID === keyId) await end(deps, tx, id, 'revoked', reason);
  };

/** Approval requests of AI keys and their life cycle. */
export const createApprovals = (deps: ApprovalDeps) => {
  const { store, operations } = deps;
  const subjectOf = createSubjects({ store, dependenciesOf: operations.dependenciesOf });
  const parts = { ...deps, subjectOf, prepare: createPrepare(deps), execute: createExecute(deps) };

  return {
    request: createRequest(parts),
    confirm: createConfirm(parts),
    decide: createDecide({ ...deps, subjectOf }),
    continueRestarts: createRestarts(deps),
    digestOfTask: createTaskDigest({ store, dependenciesOf: operations.dependenciesOf }),
    prepare: parts.prepare,

    list: listApprovals(deps),

    get: getApproval(deps),

    cancel: cancelApproval(deps),

    revokeOfKey: revokeForKey(deps),

    /** Expires approvals, revokes unusable ones and deletes old ones. */
    sweep: async () => {
      await forgetApprovals(store.database);
      const waiting = await pendingApprovals(store.read);
      for (const { id } of waiting) await sweepOne(id);
    },
  };

  async function sweepOne(id: number) {
    const seen = await aiApprovals.find(store.read, id);
    const reader = { ...store.read, now: new Date().toISOString() } as unknown as Change;
    if (seen?.state !== 'pending' || (await endOf(deps, reader, seen)) === undefined) return;
    await store.change(sweepOrigin, async (tx) => {
      const record = await aiApprovals.find(tx, id);
      const reason = record?.state === 'pending' ? await endOf(deps, tx, record) : undefined;
      if (reason === undefined) return;
      await end(deps, tx, id, reason === 'expired' ? 'expired' : 'revoked', reason === 'expired' ? null : reason);
    });
  }
};

interface ListQuery {
  readonly count?: number;
  readonly page?: number;
  readonly key?: string;
  readonly order?: 'asc' | 'desc';
  readonly state?: ApprovalState;
}

export type Approvals = ReturnType<typeof createApprovals>;
