import type { Approval } from '@rushhour/contract';
import { sql } from 'kysely';
import type { RecordOf } from '../engine/column.ts';
import type { Database, Executor } from '../engine/database.ts';
import { decoderOf } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import { tables } from '../tables/index.ts';

export type ApprovalRecord = RecordOf<typeof tables.aiApprovals>;

export const aiApprovals = createTable('aiApprovals', {
  filters: {
    keyID: (id: number) => sql`${sql.ref('t.keyID')} = ${id}`,
    state: (state: string) => sql`t.state = ${state}`,
    risk: (risk: string) => sql`t.risk = ${risk}`,
    from: (at: string) => sql`${sql.ref('t.createdAt')} >= ${at}`,
    to: (at: string) => sql`${sql.ref('t.createdAt')} < ${at}`,
  },
});

const decode = decoderOf(tables.aiApprovals) as (row: Record<string, unknown>) => ApprovalRecord;
const decodeAll = (rows: unknown[]) => (rows as Record<string, unknown>[]).map(decode);

const byToken = statement((db, p: { tokenHash: string }) =>
  db.selectFrom('aiApprovals').selectAll().where('tokenHash', '=', p.tokenHash),
);

export const findByToken = async (executor: Executor, hash: string): Promise<ApprovalRecord | undefined> =>
  decodeAll(await byToken.all(executor, { tokenHash: hash }))[0];

const byRequestKey = statement((db, p: { keyID: number; family: string; idempotencyKey: string }) =>
  db
    .selectFrom('aiApprovals')
    .selectAll()
    .where('keyID', '=', p.keyID)
    .where('family', '=', p.family)
    .where('idempotencyKey', '=', p.idempotencyKey),
);

/** The approval that was asked for under this idempotency key. */
export const findByRequestKey = async (
  executor: Executor,
  wanted: { keyID: number; family: string; idempotencyKey: string },
): Promise<ApprovalRecord | undefined> => decodeAll(await byRequestKey.all(executor, wanted))[0];

const byConfirmKey = statement((db, p: { keyID: number; family: string; confirmKey: string }) =>
  db
    .selectFrom('aiApprovals')
    .select('id')
    .where('keyID', '=', p.keyID)
    .where('family', '=', p.family)
    .where('confirmKey', '=', p.confirmKey),
);

/** The approval that was confirmed under this idempotency key. */
export const confirmedUnder = async (
  executor: Executor,
  wanted: { keyID: number; family: string; confirmKey: string },
): Promise<number | undefined> => (await byConfirmKey.first(executor, wanted))?.id;

const pending = statement((db, _: object) =>
  db.selectFrom('aiApprovals').selectAll().where('state', '=', 'pending').orderBy('id'),
);
export const pendingApprovals = async (executor: Executor): Promise<ApprovalRecord[]> =>
  decodeAll(await pending.all(executor, {}));

const restarting = statement((db, _: object) =>
  db.selectFrom('aiApprovals').selectAll().where('restarting', '!=', '[]').orderBy('id'),
);
/** Approvals that were used and still have tasks to start again. */
export const restartingApprovals = async (executor: Executor): Promise<ApprovalRecord[]> =>
  decodeAll(await restarting.all(executor, {}));

const asked = statement((db, p: { keyID: number; since: string }) =>
  db
    .selectFrom('aiApprovals')
    .select(sql<number>`count(*)`.as('asked'))
    .where('keyID', '=', p.keyID)
    .where('risk', '!=', 'RS')
    .where('createdAt', '>', p.since),
);
const waiting = statement((db, p: { keyID: number; now: string }) =>
  db
    .selectFrom('aiApprovals')
    .select(sql<number>`count(*)`.as('waiting'))
    .where('keyID', '=', p.keyID)
    .where('state', '=', 'pending')
    .where('expiresAt', '>', p.now),
);
const spent = statement((db, p: { keyID: number; since: string }) =>
  db
    .selectFrom('aiApprovals')
    .select([
      sql<number>`coalesce(sum(starts), 0)`.as('starts'),
      sql<number>`coalesce(sum(${sql.ref('agentSeconds')}), 0)`.as('agentSeconds'),
      sql<number>`coalesce(sum(${sql.ref('generatedBytes')}), 0)`.as('bytes'),
    ])
    .where('keyID', '=', p.keyID)
    .where('state', '=', 'used')
    .where('usedAt', '>', p.since),
);

const before = (now: string, ms: number) => new Date(Date.parse(now) - ms).toISOString();
const hourMs = 3_600_000;

export interface ApprovalUsage {
  askedLastHour: number;
  waiting: number;
  starts: number;
  agentSeconds: number;
  bytes: number;
}

/** The used quotas of a key: approvals in the last hour, traffic in the last day. */
export const approvalUsage = async (executor: Executor, keyID: number, now: string): Promise<ApprovalUsage> => {
  const hour = await asked.first(executor, { keyID, since: before(now, hourMs) });
  const open = await waiting.first(executor, { keyID, now });
  const day = await spent.first(executor, { keyID, since: before(now, 24 * hourMs) });
  return {
    askedLastHour: Number(hour?.asked ?? 0),
    waiting: Number(open?.waiting ?? 0),
    starts: Number(day?.starts ?? 0),
    agentSeconds: Number(day?.agentSeconds ?? 0),
    bytes: Number(day?.bytes ?? 0),
  };
};

const active = statement((db, p: { keyID: number }) =>
  db
    .selectFrom('aiApprovals')
    .select('runIDs')
    .where('keyID', '=', p.keyID)
    .where('runIDs', '!=', '[]')
    .orderBy('id', 'desc')
    .limit(1000),
);

/** Runs that a key has started, from its newest thousand approvals. */
export const runsOfKey = async (executor: Executor, keyID: number): Promise<Set<number>> =>
  new Set((await active.all(executor, { keyID })).flatMap(({ runIDs }) => JSON.parse(runIDs) as number[]));

const sweep = statement((db, p: { before: string }) =>
  db.deleteFrom('aiApprovals').where('state', '!=', 'pending').where('createdAt', '<', p.before),
);
const keptDays = 90;

/** Deletes approvals that ended long ago. */
export const forgetApprovals = (database: Database) =>
  database.transaction((tx) => sweep.all(tx, { before: before(new Date().toISOString(), keptDays * 24 * hourMs) }));

/** An approval as keys and people read it: no token, no nonce, no subject. */
export const approvalView = (record: ApprovalRecord): Approval => {
  const { id, action, taskIds, params, stateReason, requiredDecisions, decisions, digest, plan, reason } = record;
  const { keyID: keyId, createdAt, expiresAt, usedAt, result } = record;
  return {
    ...{ id, action, taskIds, params, stateReason, requiredDecisions, decisions, digest, plan, reason },
    ...{ keyId, createdAt, expiresAt, usedAt, result },
    risk: record.risk as Approval['risk'],
    policy: record.policy as Approval['policy'],
    state: record.state as Approval['state'],
  };
};
