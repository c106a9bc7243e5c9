import { activeStatuses } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Change } from '../engine/change.ts';
import type { RecordOf } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { decoderOf, encodeRow } from '../engine/row.ts';
import { type Statement, statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import { tables } from '../tables/index.ts';

export type { RunDefinition, RunJob, RunValidity } from '../tables/runs.ts';
export type RunRecord = RecordOf<typeof tables.runs>;

const ofStarter = (column: string) =>
  sql<
    string | null
  >`(select ${sql.ref(`starter.${column}`)} from users as starter where starter.id = ${sql.ref('t.startedBy')})`;

export const runs = createTable('runs', {
  search: ['comment'],
  computed: { starterEmail: () => ofStarter('email'), starterName: () => ofStarter('realName') },
  filters: {
    taskID: (id: number) => sql`${sql.ref('t.taskID')} = ${id}`,
    verdict: (verdict: number) => sql`t.verdict = ${verdict}`,
  },
});

const decode = decoderOf(tables.runs) as (row: Record<string, unknown>) => RunRecord;
const decodeAll = (rows: unknown[]) => (rows as Record<string, unknown>[]).map(decode);

/** A transaction with its time and after-commit hooks. A `Change` is one. */
export type Writing = Executor & Pick<Change, 'now' | 'afterCommit'>;

const mirror = statement((db, p: Mirrored) =>
  db
    .updateTable('tasks')
    .set({
      ...{ status: p.status, startedAt: p.startedAt, finishedAt: p.finishedAt, error: p.error },
      ...{ lastRunID: p.lastRunID, verdict: p.verdict },
    })
    .where('id', '=', p.id),
);
interface Mirrored {
  id: number;
  status: number;
  startedAt: string | null;
  finishedAt: string | null;
  error: string;
  lastRunID: number;
  verdict: number;
}

/** A task shows the state of its newest run. */
export const mirrorRun = (tx: Executor, { id, taskID, status, startedAt, finishedAt, error, verdict }: RunRecord) =>
  mirror.all(tx, { id: taskID, status, startedAt, finishedAt, error, lastRunID: id, verdict });

type Guarded = Statement<object, Record<string, unknown>>;
const updates = new Map<string, Guarded>();

/** One statement for each set of columns; the guard is part of it. */
const updateOf = (names: readonly string[]): Guarded => {
  const key = names.join();
  let found = updates.get(key);
  if (found === undefined) {
    found = statement((db, p: Record<string, never>, engine) =>
      db
        .updateTable('runs')
        .set(Object.fromEntries(names.map((name) => [name, p[name]])))
        .where('id', '=', p['id'] as never)
        .where(inList('status', p['from'], engine))
        .returningAll(),
    ) as unknown as Guarded;
    updates.set(key, found);
  }
  return found;
};

export type RunPatch = Partial<Omit<RunRecord, 'id' | 'taskID'>>;

/** Changes a run that is in one of the states `from`; undefined when it is not. */
export const patchRun = async (
  tx: Writing,
  { id, from, patch }: { id: number; from: readonly number[]; patch: RunPatch },
): Promise<RunRecord | undefined> => {
  const values = { ...patch, updatedAt: tx.now };
  const names = Object.keys(values).filter((name) => name in tables.runs);
  const row = await updateOf(names).first(tx, {
    ...encodeRow(tables.runs, values),
    id,
    from: JSON.stringify(from),
  });
  return row && decode(row);
};

const locked = statement((db, p: { id: number }, engine) => {
  const row = db.selectFrom('runs').selectAll().where('id', '=', p.id);
  return engine === 'postgres' ? row.forUpdate() : row;
});

/** Reads a run and keeps others from changing it or what belongs to it until the transaction ends. */
export const lockRun = async (tx: Writing, id: number): Promise<RunRecord | undefined> =>
  decodeAll(await locked.all(tx, { id }))[0];

const active = statement((db, _: object) =>
  db
    .selectFrom('runs')
    .select(['id', 'taskID', 'status', 'startedBy', 'notBefore', 'deadlineAt'])
    .where('status', 'in', activeStatuses)
    .orderBy('priority', 'desc')
    .orderBy('queuedAt')
    .orderBy('id'),
);
export type ActiveRun = Pick<RunRecord, 'id' | 'taskID' | 'status' | 'startedBy' | 'notBefore' | 'deadlineAt'>;

/** Every active run; queued ones in the order they will start. */
export const activeRuns = (read: Executor): Promise<ActiveRun[]> => active.all(read, {});

const ofTask = statement((db, p: { taskID: number }) =>
  db.selectFrom('runs').selectAll().where('taskID', '=', p.taskID).orderBy('number', 'desc').limit(1),
);
/** The newest run of a task, active or not. */
export const newestRunOf = async (read: Executor, taskID: number): Promise<RunRecord | undefined> =>
  decodeAll(await ofTask.all(read, { taskID }))[0];
