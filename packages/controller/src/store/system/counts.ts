import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';

const count = sql<number>`count(*)`.as('count');

const agents = statement((db, _: object) => db.selectFrom('agents').select(['status', count]).groupBy('status'));
const runs = statement((db, _: object) => db.selectFrom('runs').select(['status', count]).groupBy('status'));
const verdicts = statement((db, _: object) =>
  db.selectFrom('runs').select(['verdict', count]).where('status', '>=', 7).groupBy('verdict'),
);

const byNumber = (rows: readonly { key: number; count: number }[]) =>
  new Map(rows.map((row) => [row.key, Number(row.count)]));

/** How many agents have each status. */
export const countAgents = async (read: Executor): Promise<Map<number, number>> =>
  byNumber((await agents.all(read, {})).map((row) => ({ key: row.status, count: row.count })));

/** How many runs have each status. */
export const countRuns = async (read: Executor): Promise<Map<number, number>> =>
  byNumber((await runs.all(read, {})).map((row) => ({ key: row.status, count: row.count })));

/** How many runs ended with each verdict. */
export const countVerdicts = async (read: Executor): Promise<Map<number, number>> =>
  byNumber((await verdicts.all(read, {})).map((row) => ({ key: row.verdict, count: row.count })));
