import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { inList, jsonRows } from '../engine/expressions.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import type { Tables } from '../tables/index.ts';

/** A row of packed seconds as the database keeps it. */
export type SampleRow = Tables['runSamples'];
/** The agent that stands for all of them together. */
export const everyAgent = 0;

const insertOne = statement((db, _: SampleRow) => db.insertInto('runSamples').values(everyColumn('runSamples')));

type Columns = { [K in keyof SampleRow]: SampleRow[K][] };
const insertMany = statement((db, p: Columns) =>
  db
    .insertInto('runSamples')
    .columns(['runID', 'agentID', 'orderIndex', 'fromSeq', 'toSeq', 'fromAt', 'toAt', 'isBlock', 'data'])
    .expression(
      sql<never>`select * from unnest(${p.runID}::bigint[], ${p.agentID}::bigint[], ${p.orderIndex}::bigint[],
        ${p.fromSeq}::bigint[], ${p.toSeq}::bigint[], ${p.fromAt}::bigint[], ${p.toAt}::bigint[],
        ${p.isBlock}::bigint[], ${p.data}::bytea[])` as never,
    ),
);

/** One by one on SQLite, where that costs nothing; in one statement on PostgreSQL, where each is a round trip. */
export const insertSamples = async (tx: Executor, rows: readonly SampleRow[]) => {
  if (rows.length === 0) return;
  if (tx.engine === 'sqlite') {
    for (const row of rows) await insertOne.all(tx, row);
    return;
  }
  const column = <K extends keyof SampleRow>(name: K) => rows.map((row) => row[name]);
  await insertMany.all(tx, {
    runID: column('runID'),
    agentID: column('agentID'),
    orderIndex: column('orderIndex'),
    fromSeq: column('fromSeq'),
    toSeq: column('toSeq'),
    fromAt: column('fromAt'),
    toAt: column('toAt'),
    isBlock: column('isBlock'),
    data: column('data'),
  });
};

const keys = statement((db, p: { runID: number }) =>
  db
    .selectFrom('runSamples')
    .select(['agentID', 'orderIndex', 'fromSeq', 'toSeq', 'fromAt', 'toAt', 'isBlock'])
    .where('runID', '=', p.runID)
    .orderBy('agentID')
    .orderBy('orderIndex')
    .orderBy('fromSeq'),
);
/** What is stored of a run, without the seconds themselves. */
export const sampleKeys = (read: Executor, runID: number) => keys.all(read, { runID });

const keysOfAgents = statement((db, p: { runID: number; agentIDs: string }, engine) =>
  db
    .selectFrom('runSamples')
    .select(['agentID', 'orderIndex', 'fromSeq', 'toSeq'])
    .where('runID', '=', p.runID)
    .where(inList('agentID', p.agentIDs, engine)),
);
/** The same of some agents. */
export const sampleKeysOfAgents = (read: Executor, runID: number, agentIds: readonly number[]) =>
  keysOfAgents.all(read, { runID, agentIDs: JSON.stringify(agentIds) });

const ofEveryAgent = statement((db, p: { runID: number }) =>
  db
    .selectFrom('runSamples')
    .select(['orderIndex', 'fromSeq', 'toSeq'])
    .where('runID', '=', p.runID)
    .where('agentID', '=', everyAgent)
    .orderBy('orderIndex')
    .orderBy('fromSeq'),
);
/** Which minutes of a run are stored merged over its agents. */
export const mergedKeys = (read: Executor, runID: number) => ofEveryAgent.all(read, { runID });

const looseOfRun = statement((db, p: { runID: number }) =>
  db.selectFrom('runSamples').select('runID').where('runID', '=', p.runID).where('isBlock', '=', 0).limit(1),
);
/** Whether a run has seconds that are not compacted yet. */
export const hasLooseSamples = async (read: Executor, runID: number) =>
  (await looseOfRun.first(read, { runID })) !== undefined;

interface Span {
  runID: number;
  agentID: number;
  orderIndex: number;
  fromSeq: number;
  toSeq: number;
}
const span = statement((db, p: Span) =>
  db
    .selectFrom('runSamples')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('agentID', '=', p.agentID)
    .where('orderIndex', '=', p.orderIndex)
    .where('fromSeq', '>=', p.fromSeq)
    .where('fromSeq', '<=', p.toSeq)
    .orderBy('fromSeq'),
);
/** Rows that begin within the span, oldest first. */
export const samplesIn = (read: Executor, where: Span) => span.all(read, where);

const removeSpan = statement((db, p: Span) =>
  db
    .deleteFrom('runSamples')
    .where('runID', '=', p.runID)
    .where('agentID', '=', p.agentID)
    .where('orderIndex', '=', p.orderIndex)
    .where('fromSeq', '>=', p.fromSeq)
    .where('fromSeq', '<=', p.toSeq),
);
export const removeSamplesIn = (tx: Executor, where: Span) => removeSpan.all(tx, where);

const removeRows = statement(
  (db, p: { runID: number; agentID: number; orderIndex: number; fromSeqs: string }, engine) =>
    db
      .deleteFrom('runSamples')
      .where('runID', '=', p.runID)
      .where('agentID', '=', p.agentID)
      .where('orderIndex', '=', p.orderIndex)
      .where(inList('fromSeq', p.fromSeqs, engine)),
);
/** Removes these rows of one job, and none that another controller adds meanwhile. */
export const removeSampleRows = async (tx: Executor, rows: readonly SampleRow[]) => {
  const [first] = rows;
  if (first === undefined) return;
  const { runID, agentID, orderIndex } = first;
  const fromSeqs = JSON.stringify(rows.map(({ fromSeq }) => fromSeq));
  await removeRows.all(tx, { runID, agentID, orderIndex, fromSeqs });
};

interface TimeSpan {
  runID: number;
  fromAt: number;
  toAt: number;
}
interface PageAfter {
  agentID: number;
  orderIndex: number;
  fromSeq: number;
  limit: number;
}

const after = ({ agentID, orderIndex, fromSeq }: Omit<PageAfter, 'limit'>) =>
  sql<boolean>`("agentID", "orderIndex", "fromSeq") > (${agentID}, ${orderIndex}, ${fromSeq})`;

const lately = statement((db, p: TimeSpan & PageAfter) =>
  db
    .selectFrom('runSamples')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('toAt', '>=', p.fromAt)
    .where('fromAt', '<=', p.toAt)
    .where(after(p))
    .orderBy('agentID')
    .orderBy('orderIndex')
    .orderBy('fromSeq')
    .limit(p.limit),
);
const ofAgent = statement((db, p: TimeSpan & PageAfter & { agent: number }) =>
  db
    .selectFrom('runSamples')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('agentID', '=', p.agent)
    // An expression keeps the database from the time index, which would read all agents to find one.
    .where(sql<boolean>`"toAt" + 0 >= ${p.fromAt}`)
    .where('fromAt', '<=', p.toAt)
    .where(after(p))
    .orderBy('agentID')
    .orderBy('orderIndex')
    .orderBy('fromSeq')
    .limit(p.limit),
);

// Without ORDER BY and LIMIT the database uses the time index instead of scanning the whole run.
const atTime = statement((db, p: TimeSpan) =>
  db
    .selectFrom('runSamples')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('toAt', '>=', p.fromAt)
    .where('fromAt', '<=', p.toAt)
    .where('agentID', '!=', everyAgent),
);

const shortSpanMs = 15_000;
const pageRows = 64;

/**
 * The rows of a run that have seconds in a span of time, order by order and oldest first, a handful at a time.
 * Of one agent, or of all agents (each for itself).
 */
export async function* samplesBetween(
  read: Executor,
  where: TimeSpan & { agent?: number | undefined },
): AsyncGenerator<SampleRow[]> {
  const { agent, ...times } = where;
  if (agent === undefined && times.toAt - times.fromAt <= shortSpanMs) {
    yield (await atTime.all(read, times)).sort(
      (a, b) => a.agentID - b.agentID || a.orderIndex - b.orderIndex || a.fromSeq - b.fromSeq,
    );
    return;
  }
  let last = { agentID: agent === undefined ? everyAgent : agent - 1, orderIndex: Number.MAX_SAFE_INTEGER, fromSeq: 0 };
  for (;;) {
    const page = { ...times, ...last, limit: pageRows };
    const rows = agent === undefined ? await lately.all(read, page) : await ofAgent.all(read, { ...page, agent });
    const final = rows.at(-1);
    if (final === undefined) return;
    last = { agentID: final.agentID, orderIndex: final.orderIndex, fromSeq: final.fromSeq };
    yield rows;
    if (rows.length < pageRows) return;
  }
}

const names = statement((db, p: { runID: number }) =>
  db.selectFrom('runNames').select(['number', 'name']).where('runID', '=', p.runID).orderBy('number'),
);
export const runNamesOf = (read: Executor, runID: number) => names.all(read, { runID });

const insertNames = statement((db, p: { rows: string }, engine) =>
  db
    .insertInto('runNames')
    .columns(['runID', 'number', 'name'])
    .expression(
      sql<never>`select "runID", "number", "name" from ${jsonRows(p.rows, 'n', { runID: 'bigint', number: 'bigint', name: 'text' }, engine)}` as never,
    ),
);
export const insertRunNames = async (tx: Executor, rows: readonly Tables['runNames'][]) => {
  if (rows.length > 0) await insertNames.all(tx, { rows: JSON.stringify(rows) });
};

const loose = statement((db, _: object) =>
  db.selectFrom('runSamples').select('runID').distinct().where('isBlock', '=', 0),
);
/** Runs with seconds that are not rolled up into minutes yet. */
export const runsWithLooseSamples = async (read: Executor) => (await loose.all(read, {})).map(({ runID }) => runID);
