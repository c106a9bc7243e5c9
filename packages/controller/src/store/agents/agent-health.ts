import type { AgentHealth } from '@rushhour/protocol';
import { sql } from 'kysely';
import type { Database, Executor } from '../engine/database.ts';
import { inList, jsonRows } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';

export interface HealthReading {
  agentID: number;
  /** Milliseconds since 1970. */
  at: number;
  health: AgentHealth;
}

const pageRows = 1000;
const keptMs = 24 * 3_600_000;
const agentsAtOnce = 50;

const insert = statement((db, p: { rows: string }, engine) => ({
  compile: () =>
    sql<object>`insert into ${sql.table('agentHealth')} (${sql.ref('agentID')}, at, health) select ${sql.ref('agentID')}, at, health from ${jsonRows(
      p.rows,
      'reading',
      { agentID: 'bigint', at: 'bigint', health: 'text' },
      engine,
    )}`.compile(db),
}));
const newest = statement((db, p: { agentID: number }) =>
  db.selectFrom('agentHealth').selectAll().where('agentID', '=', p.agentID).orderBy('at', 'desc').limit(1),
);
const page = statement((db, p: { agentID: number; after: number; to: number }) =>
  db
    .selectFrom('agentHealth')
    .selectAll()
    .where('agentID', '=', p.agentID)
    .where('at', '>', p.after)
    .where('at', '<=', p.to)
    .orderBy('at')
    .limit(pageRows),
);
const everyone = statement((db, _: object) => db.selectFrom('agents').select('id'));
const remove = statement((db, p: { ids: string; before: number }, engine) =>
  db
    .deleteFrom('agentHealth')
    .where(inList('agentID', p.ids, engine))
    .where('at', '<', p.before),
);

const decode = ({ agentID, at, health }: { agentID: number; at: number; health: string }): HealthReading => ({
  agentID,
  at,
  health: JSON.parse(health) as AgentHealth,
});

/** Readings of any number of agents in one statement. */
export const keepHealth = (tx: Executor, readings: readonly HealthReading[]) =>
  insert.all(tx, {
    rows: JSON.stringify(readings.map((reading) => ({ ...reading, health: JSON.stringify(reading.health) }))),
  });

export const latestHealth = async (executor: Executor, agentID: number) => {
  const row = await newest.first(executor, { agentID });
  return row && decode(row);
};

/** Readings after `from` up to `to`, oldest first, page by page: a day is not held in memory at once. */
export async function* healthBetween(executor: Executor, agentID: number, from: number, to: number) {
  let after = from - 1;
  for (;;) {
    const rows = await page.all(executor, { agentID, after, to });
    for (const row of rows) yield decode(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = last.at;
  }
}

/** Deletes readings older than a day, a few agents at a time. */
export const sweepHealth = async (database: Database) => {
  const ids = (await everyone.all(database, {})).map(({ id }) => id);
  for (let start = 0; start < ids.length; start += agentsAtOnce) {
    const some = JSON.stringify(ids.slice(start, start + agentsAtOnce));
    await database.transaction((tx) => remove.all(tx, { ids: some, before: Date.now() - keptMs }));
  }
};
