import { sql } from 'kysely';
import type { RecordOf } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { decoderOf, encodeRow } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { type Tables, tables } from '../tables/index.ts';

export type RunDumpRecord = RecordOf<typeof tables.runDumps>;
type ReportedCapture = Omit<RunDumpRecord, 'id' | 'createdAt' | 'updatedAt'>;
type Key = Pick<RunDumpRecord, 'runID' | 'epoch' | 'agentID' | 'name'>;

const decode = decoderOf(tables.runDumps) as (row: Record<string, unknown>) => RunDumpRecord;
const decodeAll = (rows: unknown[]) => (rows as Record<string, unknown>[]).map(decode);

const byRun = statement((db, p: { runID: number }) =>
  db.selectFrom('runDumps').selectAll().where('runID', '=', p.runID).where('state', '<>', 'doomed').orderBy('id'),
);
const byId = statement((db, p: { id: number }) =>
  db.selectFrom('runDumps').selectAll().where('id', '=', p.id).where('state', '<>', 'doomed'),
);
const byKey = statement((db, p: Key) =>
  db
    .selectFrom('runDumps')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('epoch', '=', p.epoch)
    .where('agentID', '=', p.agentID)
    .where('name', '=', p.name),
);
const insert = statement((db, p: Omit<Tables['runDumps'], 'id'>) =>
  db.insertInto('runDumps').values({
    ...{ runID: p.runID, epoch: p.epoch, agentID: p.agentID, name: p.name, interface: p.interface, state: p.state },
    ...{ size: p.size, packets: p.packets, drops: p.drops, truncated: p.truncated, sha256: p.sha256 },
    ...{ firstAt: p.firstAt, lastAt: p.lastAt, problem: p.problem, createdAt: p.createdAt, updatedAt: p.updatedAt },
    // The database numbers them.
  } as Tables['runDumps']),
);
const update = statement((db, p: Tables['runDumps']) =>
  db
    .updateTable('runDumps')
    .set({
      ...{ state: p.state, size: p.size, packets: p.packets, drops: p.drops, truncated: p.truncated },
      ...{ sha256: p.sha256, firstAt: p.firstAt, lastAt: p.lastAt, problem: p.problem, updatedAt: p.updatedAt },
    })
    .where('id', '=', p.id)
    .where('state', 'in', ['open', 'closed', 'lost']),
);
const settle = statement((db, p: { id: number; state: string; problem: string; now: string }) =>
  db
    .updateTable('runDumps')
    .set({ state: p.state, problem: p.problem, updatedAt: p.now })
    .where('id', '=', p.id)
    .where('state', 'in', ['open', 'closed', 'lost'])
    .returning('id'),
);
const withContent = statement((db, p: { sha256: string }) =>
  db.selectFrom('runDumps').select('id').where('sha256', '=', p.sha256).limit(1),
);

const counted = statement((db, p: { runID: number; agentID: number }) =>
  db
    .selectFrom('runDumps')
    .select(sql<number>`count(*)`.as('count'))
    .where('runID', '=', p.runID)
    .where('agentID', '=', p.agentID),
);

/** Captures of one run that one agent may announce. */
const maxDumpsPerAgent = 64;

/** Whether a capture is one too many: unknown, and its agent has announced as many as it may. */
export const isDumpTooMany = async (tx: Executor, key: Key): Promise<boolean> => {
  const count = Number((await counted.first(tx, key))?.count ?? 0);
  return count >= maxDumpsPerAgent && (await byKey.all(tx, key)).length === 0;
};

export const dumpsOf = async (read: Executor, runID: number): Promise<RunDumpRecord[]> =>
  decodeAll(await byRun.all(read, { runID }));

export const findDump = async (read: Executor, id: number): Promise<RunDumpRecord | undefined> =>
  decodeAll(await byId.all(read, { id }))[0];

/** Stores what an agent reports about a capture; one that is ready or doomed is not changed. Returns the stored row. */
export const putDump = async (tx: Executor, reported: ReportedCapture): Promise<RunDumpRecord> => {
  const now = new Date().toISOString();
  const [known] = decodeAll(await byKey.all(tx, reported));
  const row = { ...reported, createdAt: known?.createdAt ?? now, updatedAt: now };
  if (known === undefined) await insert.all(tx, encodeRow(tables.runDumps, row) as Tables['runDumps']);
  else await update.all(tx, encodeRow(tables.runDumps, { ...row, id: known.id }) as Tables['runDumps']);
  return decodeAll(await byKey.all(tx, reported))[0] as RunDumpRecord;
};

/** False when the capture is not awaited any more. */
export const settleDump = async (
  tx: Executor,
  { id, state, problem }: Pick<RunDumpRecord, 'id' | 'problem'> & { state: 'ready' | 'lost' },
): Promise<boolean> => (await settle.first(tx, { id, state, problem, now: new Date().toISOString() })) !== undefined;

export const isDumpContent = async (read: Executor, sha256: string): Promise<boolean> =>
  (await withContent.first(read, { sha256 })) !== undefined;

const partPrefix = 'dump-';
/** The unfinished upload that collects the bytes of a capture. */
export const dumpPart = (id: number) => `${partPrefix}${id}`;

const gathering = statement((db, p: { id: number }) =>
  db.selectFrom('runDumps').select('id').where('id', '=', p.id).where('state', 'in', ['open', 'closed']),
);

/** Whether the unfinished upload belongs to a capture that is still awaited. */
export const isDumpPart = async (read: Executor, part: string): Promise<boolean> => {
  const id = part.startsWith(partPrefix) ? Number(part.slice(partPrefix.length)) : Number.NaN;
  return Number.isSafeInteger(id) && (await gathering.first(read, { id })) !== undefined;
};

const doom = statement((db, p: { ids: string }, engine) =>
  db
    .updateTable('runDumps')
    .set({ state: 'doomed' })
    .where(inList('runID', p.ids, engine)),
);
/** Captures of these runs disappear immediately; the next sweep deletes their content. */
export const doomDumps = (tx: Executor, runIds: readonly number[]) => doom.all(tx, { ids: JSON.stringify(runIds) });

const old = statement((db, p: { before: string }) =>
  db
    .selectFrom('runs')
    .innerJoin('runDumps', 'runDumps.runID', 'runs.id')
    .select('runs.id')
    .distinct()
    .where('runs.finishedAt', '<', p.before)
    .where('runs.pinned', '=', 0)
    .where('runDumps.state', '<>', 'doomed'),
);
/** Of runs that ended before and are not pinned. */
export const runsWithOldDumps = async (read: Executor, before: string): Promise<number[]> =>
  (await old.all(read, { before })).map(({ id }) => id);

const doomed = statement((db, _: object) =>
  db.selectFrom('runDumps').select(['id', 'sha256']).where('state', '=', 'doomed').orderBy('id').limit(100),
);
export const doomedDumps = (read: Executor) => doomed.all(read, {});

const remove = statement((db, p: { id: number }) =>
  db.deleteFrom('runDumps').where('id', '=', p.id).where('state', '=', 'doomed'),
);
export const removeDoomed = (tx: Executor, id: number) => remove.all(tx, { id });
