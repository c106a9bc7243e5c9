import { gunzipSync, gzipSync } from 'node:zlib';
import type { RecordOf } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { decoderOf, encodeRow } from '../engine/row.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import { type Tables, tables } from '../tables/index.ts';

/** The attempts of one entry of a run. */
export interface RunAttempts extends Omit<RecordOf<typeof tables.runAttempts>, 'data' | 'size' | 'runID'> {
  /** Lines of JSON. */
  readonly text: string;
}

const insert = statement((db, _: Tables['runAttempts']) =>
  db.insertInto('runAttempts').values(everyColumn('runAttempts')),
);
const drop = statement((db, p: { runID: number }) => db.deleteFrom('runAttempts').where('runID', '=', p.runID));
const ofRun = statement((db, p: { runID: number }) =>
  db.selectFrom('runAttempts').selectAll().where('runID', '=', p.runID).orderBy('sha256'),
);
const byHash = statement((db, p: { sha256: string }) =>
  db.selectFrom('runAttempts').select('data').where('sha256', '=', p.sha256).limit(1),
);
const decode = decoderOf(tables.runAttempts) as (row: object) => RecordOf<typeof tables.runAttempts>;

/** Replaces the attempts of a run. */
export const setRunAttempts = async (tx: Executor, runID: number, all: readonly RunAttempts[]) => {
  await drop.all(tx, { runID });
  for (const { text, ...attempts } of all) {
    const row = { ...attempts, runID, size: Buffer.byteLength(text), data: gzipSync(text, { level: 3 }) };
    await insert.all(tx, encodeRow(tables.runAttempts, row) as Tables['runAttempts']);
  }
};

export const runAttemptsOf = async (read: Executor, runID: number): Promise<RunAttempts[]> =>
  (await ofRun.all(read, { runID })).map((row) => {
    const { data, size: _, runID: __, ...attempts } = decode(row);
    return { ...attempts, text: gunzipSync(data).toString() };
  });

/** The number of attempts that a run makes. */
export const countRunAttempts = async (read: Executor, runID: number): Promise<number> =>
  (await runAttemptsOf(read, runID)).reduce(
    (sum, { text }) => sum + text.split('\n').filter((line) => line !== '').length,
    0,
  );

const policies = statement((db, p: { runID: number }) =>
  db.selectFrom('runAttempts').select(['policy', 'sha256']).where('runID', '=', p.runID).orderBy('sha256'),
);
/** The verdict policies of a run and the hashes of its attempt files. */
export const attemptPoliciesOf = async (read: Executor, runID: number) =>
  (await policies.all(read, { runID })).map(({ policy, sha256 }) => ({
    sha256,
    policy: JSON.parse(policy) as Record<string, unknown>,
  }));

const named = statement((db, p: { pattern: string }) =>
  db
    .selectFrom('runAttempts')
    .innerJoin('runs', 'runs.id', 'runAttempts.runID')
    .select(['runAttempts.runID', 'runAttempts.policy'])
    .where('runs.status', '>=', 7)
    .where('runAttempts.policy', 'like', p.pattern)
    .orderBy('runAttempts.runID'),
);
/** Runs that have ended and whose alerts are in this file. */
export const endedRunsNaming = async (read: Executor, fileId: number): Promise<number[]> => {
  const found = (await named.all(read, { pattern: `%"fileID":${fileId}%` })).filter(({ policy }) => {
    const { alerts } = JSON.parse(policy) as { alerts?: { enabled?: unknown; fileID?: unknown } };
    return alerts?.enabled === true && alerts.fileID === fileId;
  });
  return [...new Set(found.map(({ runID }) => runID))];
};

/** The file of attempts with this hash, of whichever run. */
export const attemptsWithHash = async (read: Executor, sha256: string): Promise<Buffer | undefined> => {
  const found = await byHash.first(read, { sha256 });
  return found && gunzipSync(found.data);
};

export interface RecordRow {
  readonly runID: number;
  readonly agentID: number;
  readonly orderIndex: number;
  readonly seq: number;
  readonly records: readonly unknown[];
}

const insertRecords = statement((db, _: Tables['runRecords']) =>
  db.insertInto('runRecords').values(everyColumn('runRecords')),
);
const recordsOf = statement((db, p: { runID: number }) =>
  db
    .selectFrom('runRecords')
    .selectAll()
    .where('runID', '=', p.runID)
    .orderBy('agentID')
    .orderBy('orderIndex')
    .orderBy('seq'),
);

/** Stores what jobs reported about single attempts. The same second must not be stored twice. */
export const insertRunRecords = async (tx: Executor, rows: readonly RecordRow[]) => {
  for (const { records, ...row } of rows) {
    await insertRecords.all(tx, { ...row, data: gzipSync(JSON.stringify(records), { level: 3 }) });
  }
};

/** All reports about the attempts of a run, job by job, oldest first. */
export const runRecordsOf = async (read: Executor, runID: number): Promise<RecordRow[]> =>
  (await recordsOf.all(read, { runID })).map(({ data, ...row }) => ({
    ...row,
    records: JSON.parse(gunzipSync(data).toString()) as unknown[],
  }));
